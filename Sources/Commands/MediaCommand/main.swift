import Glibc
import Media
import PictureConversion
import Platform

// relay-media picture <FILE 3>PICTURE 4>THUMBNAIL prints a PictureReport.
// relay-media png <FILE 3>PNG prints nothing, or a refusal: a PNG of the size of a thumbnail.
// relay-media avatar <FILE 3>PNG does the same for a person's picture.
//
// The relay starts one for each picture. It enters the sandbox before it reads a byte of the file.

/// Ends this process, which cannot be of use.
func fail(_ message: String) -> Never {
  StandardError.write("relay-media: \(message)\n")
  exit(1)
}

/// Reads the file, or its first bytes, if it is too long.
func readInput() -> [UInt8] {
  let limit = PictureConversion.fileLimitBytes + 1
  var file: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 256 << 10)
  while file.count < limit {
    let count = unsafe read(STDIN_FILENO, &chunk, min(chunk.count, limit - file.count))
    guard count >= 0 else { fail("the file cannot be read: \(SystemError.last("read"))") }
    if count == 0 { break }
    file += chunk[..<count]
  }
  return file
}

func write(_ bytes: [UInt8], to descriptor: Int32) {
  guard WholeFile.write(bytes.span, to: descriptor) else {
    fail("descriptor \(descriptor) cannot be written: \(SystemError.last("write"))")
  }
}

let mode = CommandLine.arguments.dropFirst().joined(separator: " ")
guard ["picture", "png", "avatar"].contains(mode) else {
  fail("it is started by relay, with files that are open, and is no command for people")
}
// Little CMS dates the profiles that it makes: the C library reads the time zone before it no longer can.
tzset()
do throws(SystemError) {
  try Sandbox(
    memoryLimitBytes: 512 << 20, fileLimitBytes: PictureConversion.fileLimitBytes,
    processorLimitSeconds: 5
  ).enter()
} catch {
  fail("\(error)")
}

do throws(PictureRefusal) {
  let file = readInput()
  guard file.count <= PictureConversion.fileLimitBytes else { throw .fileTooLong }
  switch mode {
  case "png":
    let sideLimit = ProcessedPicture.thumbnailSideLimit
    write(try PictureConversion.convertToPNG(file, sideLimit: sideLimit), to: 3)
  case "avatar":
    let sideLimit = ProcessedPicture.avatarSideLimit
    write(try PictureConversion.convertToPNG(file, sideLimit: sideLimit), to: 3)
  default:
    let result = try PictureConversion.convert(file)
    write(result.pictureFile, to: 3)
    write(result.thumbnailFile, to: 4)
    write(PictureReport.processed(result.picture).bytes, to: STDOUT_FILENO)
  }
} catch {
  write(PictureReport.refused(error).bytes, to: STDOUT_FILENO)
}
