import ObjectStorage
import RelayConfiguration
import Testing

@Test func `the configuration knows the size of the largest object in a bucket`() {
  #expect(Configuration.Files.S3.objectBytes == S3Storage.objectLimitBytes)
}
