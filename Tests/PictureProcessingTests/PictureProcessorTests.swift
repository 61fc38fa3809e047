import Glibc
import Media
import Platform
import TestSupport
import Testing

@testable import PictureProcessing

@Suite struct `Uploaded pictures` {
  /// Processes each file of a set, and shows the pictures that were written.
  private func processed(
    _ set: String
  ) throws -> (
    files: PictureFiles, pictures: [(name: String, ProcessedPicture, PictureFiles.Shown)]
  ) {
    let files = try PictureFiles(set)
    let pictures = try files.names.map { try files.process($0).get() }
    let shown = try files.show(files.names.map { "\($0).picture" })
    return (files, zip(files.names, zip(pictures, shown)).map { ($0, $1.0, $1.1) })
  }

  @Test func `a picture is upright, whatever its Exif metadata says, which is gone`() throws {
    let (files, pictures) = try processed("orientations")
    #expect(pictures.count == 24)
    for (name, picture, shown) in pictures {
      #expect(shown.has(PictureFiles.colors), "\(name): \(shown.quarters)")
      #expect((picture.width, picture.height) == (80, 60), "\(name)")
      #expect((shown.width, shown.height) == (80, 60), "\(name)")
      #expect(shown.metadata == [], "\(name)")
    }
    for shown in try files.show(files.names.map { "\($0).thumbnail" }) {
      #expect(shown.format == "WEBP")
      #expect(shown.has(PictureFiles.colors), "\(shown.quarters)")
    }
  }

  @Test func `nothing of the metadata is in any output`() throws {
    let files = try PictureFiles("metadata")
    for name in files.names {
      #expect(try files.contains("SECRET-CAMERA", in: name), "\(name)")
      _ = try files.process(name).get()
      for output in ["picture", "thumbnail"] {
        for word in ["SECRET", "Exif", "EXIF", "XMP ", "ICC", "adobe", "GPS"] {
          #expect(try !files.contains(word, in: "\(name).\(output)"), "\(name).\(output)")
        }
      }
    }
  }

  @Test func `a JPEG stays one, and what is lossless stays lossless`() throws {
    for (name, picture, shown) in try processed("modes").pictures {
      let isPhoto = name.hasSuffix(".jpg") || name == "lossy.webp"
      #expect(picture.mediaType == (isPhoto ? .jpeg : .webp), "\(name)")
      #expect(shown.format == (isPhoto ? "JPEG" : "WEBP"), "\(name)")
      #expect((shown.width, shown.height) == (80, 60), "\(name)")
      guard name.hasPrefix("gray") || name.hasPrefix("bit") else {
        #expect(shown.has(PictureFiles.colors), "\(name): \(shown.quarters)")
        continue
      }
      #expect(shown.quarters[3] == SIMD4(repeating: 255), "\(name): \(shown.quarters)")
      #expect(shown.quarters.allSatisfy { abs($0.x - $0.y) <= 1 && abs($0.y - $0.z) <= 1 })
    }
  }

  @Test func `alpha is kept`() throws {
    let (files, pictures) = try processed("alpha")
    for (name, picture, shown) in pictures {
      #expect(picture.mediaType == .webp)
      #expect(shown.quarters[2].w == 0, "\(name): \(shown.quarters)")
      #expect([shown.quarters[0].w, shown.quarters[3].w] == [255, 255], "\(name)")
      guard name.hasPrefix("rgba") || name.hasPrefix("loss") else { continue }
      var colors = PictureFiles.colors
      (colors[1].w, colors[2].w) = (128, 0)
      #expect(shown.has(colors), "\(name): \(shown.quarters)")
    }
    for shown in try files.show(files.names.map { "\($0).thumbnail" }) {
      #expect(shown.quarters[2].w < 16)
    }
  }

  @Test func `colours of a profile are converted to sRGB`() throws {
    var colors = PictureFiles.colors
    colors.swapAt(0, 1)
    for (name, _, shown) in try processed("profiles").pictures {
      let isDamaged = name == "damaged.png"
      #expect(shown.has(isDamaged ? PictureFiles.colors : colors), "\(name): \(shown.quarters)")
    }
  }

  @Test func `a picture and its thumbnail have a longest side, and become no larger`() throws {
    let sizes = [
      "wide.jpg": (4096, 2048, 640, 320), "high.png": (205, 4096, 32, 640),
      "wide.webp": (4096, 205, 640, 32), "small.jpg": (640, 480, 640, 480),
      "pixel.png": (1, 1, 1, 1), "noise.png": (2000, 1500, 640, 480),
    ]
    let (files, pictures) = try processed("sizes")
    let thumbnails = try files.show(files.names.map { "\($0).thumbnail" })
    for ((name, picture, shown), small) in zip(pictures, thumbnails) {
      let expected = try #require(sizes[name])
      let thumbnail = picture.thumbnail
      #expect(
        (picture.width, picture.height, thumbnail.width, thumbnail.height) == expected, "\(name)")
      #expect((shown.width, shown.height, small.width, small.height) == expected, "\(name)")
      #expect(15...30 ~= thumbnail.placeholder.count, "\(name)")
      #expect(
        name == "noise.png" || name == "pixel.png" || shown.has(PictureFiles.colors), "\(name)")
    }
    // Lossless it would be 9 MB.
    #expect(try readBytes(files.folder["noise.png.picture"]).count < 3_000_000)
  }

  @Test func `a thumbnail is turned into a PNG, and so is any picture`() throws {
    let files = try PictureFiles("sizes")
    _ = try files.process("wide.jpg").get()
    try files.convertToPNG("wide.jpg.thumbnail").get()
    try files.convertToPNG("wide.jpg").get()
    for shown in try files.show(["wide.jpg.thumbnail.png", "wide.jpg.png"]) {
      #expect(shown.format == "PNG")
      #expect((shown.width, shown.height) == (640, 320))
      #expect(shown.has(PictureFiles.colors), "\(shown.quarters)")
    }
    #expect(throws: PictureProcessor.NotAPicture.refused(.unknownFormat)) {
      try files.folder.write("no picture", to: "text")
      try files.convertToPNG("text").get()
    }
  }

  /// The file that `avatar` makes of a picture of a set, as Pillow reads it.
  private func avatar(_ name: String, in files: PictureFiles) throws -> PictureFiles.Shown {
    let made = try #require(try files.avatar(name), "\(name)")
    try WholeFile.write(made, to: files.folder["made.png"])
    for word in ["SECRET", "Exif", "eXIf", "GPS", "iCCP", "tEXt", "adobe"] {
      #expect(try !files.contains(word, in: "made.png"), "\(name): \(word)")
    }
    return try files.show(["made.png"])[0]
  }

  @Test func `a person's picture is a small PNG, upright and without metadata`() throws {
    for set in ["orientations", "metadata"] {
      let files = try PictureFiles(set)
      for name in files.names {
        let shown = try avatar(name, in: files)
        #expect(shown.format == "PNG", "\(name)")
        #expect((shown.width, shown.height) == (80, 60), "\(name)")
        #expect(shown.has(PictureFiles.colors), "\(name): \(shown.quarters)")
      }
    }
    let files = try PictureFiles("sizes")
    for (name, width, height) in [
      ("wide.jpg", 128, 64), ("noise.png", 128, 96), ("pixel.png", 1, 1),
    ] {
      let shown = try avatar(name, in: files)
      #expect((shown.width, shown.height) == (width, height), "\(name)")
    }
  }

  @Test(arguments: ["bombs", "animations", "others"])
  func `what is no picture is none of a person`(set: String) throws {
    let files = try PictureFiles(set)
    for name in files.names where !name.hasPrefix("small") {
      #expect(try files.avatar(name) == nil, "\(name)")
    }
  }

  @Test func `only the picture of a file that is something else, too, is left`() throws {
    for (name, _, shown) in try processed("polyglots").pictures {
      #expect(shown.has(PictureFiles.colors), "\(name)")
    }
    let files = try PictureFiles("polyglots")
    for name in files.names {
      _ = try files.process(name).get()
      for output in ["picture", "thumbnail"] {
        for word in ["script", "PK\u{3}\u{4}"] {
          #expect(try !files.contains(word, in: "\(name).\(output)"), "\(name).\(output)")
        }
      }
    }
  }
}
