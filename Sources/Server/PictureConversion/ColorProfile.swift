import CLCMS

/// Conversion to sRGB by Little CMS.
enum ColorProfile {
  /// Converts colours of an RGB profile; leaves those without one, and those of a profile that is damaged.
  static func convert(_ raster: inout Raster, from profile: [UInt8]) {
    guard !profile.isEmpty else { return }
    transform(&raster, from: profile, of: cmsSigRgbData, clcms_rgba)
  }

  /// Converts a CMYK picture, which then has no profile any more. All programs write the four colours inverted, as
  /// Adobe's do.
  static func convertCMYK(_ picture: inout DecodedPicture) {
    let isConverted = transform(
      &picture.raster, from: picture.profile, of: cmsSigCmykData, clcms_inverted_cmyk)
    picture.profile = []
    picture.raster.replaceEach { pixel in
      func mixed(_ color: UInt8) -> UInt8 { UInt8(Int(color) * Int(pixel.w) / 255) }
      return isConverted
        ? Raster.Pixel(pixel.x, pixel.y, pixel.z, 255)
        : Raster.Pixel(mixed(pixel.x), mixed(pixel.y), mixed(pixel.z), 255)
    }
  }

  @discardableResult
  private static func transform(
    _ raster: inout Raster, from profile: [UInt8], of space: cmsColorSpaceSignature,
    _ format: UInt32
  ) -> Bool {
    guard let source = unsafe cmsOpenProfileFromMem(profile, UInt32(profile.count)) else {
      return false
    }
    defer { unsafe cmsCloseProfile(source) }
    guard unsafe cmsGetColorSpace(source) == space, let target = unsafe cmsCreate_sRGBProfile()
    else { return false }
    defer { unsafe cmsCloseProfile(target) }
    guard
      let transform = unsafe cmsCreateTransform(
        source, format, target, clcms_rgba, UInt32(INTENT_PERCEPTUAL), 0)
    else { return false }
    defer { unsafe cmsDeleteTransform(transform) }
    let count = UInt32(raster.pixels.count)
    // In place: a pixel has four bytes before and after. Alpha is left as it is.
    unsafe raster.withMutableBytes { unsafe cmsDoTransform(transform, $0, $0, count) }
    return true
  }
}
