"""Pictures for the tests, made and read by another program than relay-media: Pillow.

usage: pictures.py make NAME FOLDER    makes a set of files
       pictures.py show FILE...        prints a line for each: format, width, height, mode, the red, green, blue and
                                       alpha of the middle of each quarter, row by row, and the names of its metadata
"""

import struct
import sys
import zlib

from PIL import Image, ImageCms, PngImagePlugin

# What no output may contain: the name of a camera, and a place.
SECRET = "SECRET-CAMERA"
QUARTERS = [(255, 0, 0, 255), (0, 255, 0, 255), (0, 0, 255, 255), (255, 255, 255, 255)]


def quarters(width=80, height=60, colors=QUARTERS):
    picture = Image.new("RGBA", (2, 2))
    picture.putdata(colors)
    return picture.resize((width, height), Image.NEAREST)


def exif(orientation=1):
    exif = Image.Exif()
    exif[0x010F] = SECRET
    exif[0x0112] = orientation
    exif[0x8825] = {1: "N", 2: (48.0, 51.0, 30.0), 3: "E", 4: (2.0, 17.0, 40.0)}
    return exif.tobytes()


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, depth, color, rows, *chunks):
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0)
    parts = [chunk(b"IHDR", header), *chunks, chunk(b"IDAT", zlib.compress(rows, 9)), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def after_header(file, *chunks):
    """Inserts chunks after the header of a PNG."""
    return file[:33] + b"".join(chunks) + file[33:]


def orientations(save, write):
    stored = {
        2: Image.FLIP_LEFT_RIGHT, 3: Image.ROTATE_180, 4: Image.FLIP_TOP_BOTTOM, 5: Image.TRANSPOSE,
        6: Image.ROTATE_90, 7: Image.TRANSVERSE, 8: Image.ROTATE_270,
    }
    for number in range(1, 9):
        picture = quarters()
        if number in stored:
            picture = picture.transpose(stored[number])
        save(picture.convert("RGB"), f"{number}.jpg", exif=exif(number), quality=95)
        save(picture, f"{number}.png", exif=exif(number))
        save(picture, f"{number}.webp", exif=exif(number), lossless=True)


def metadata(save, write):
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    packet = b"http://ns.adobe.com/xap/1.0/\0<x>" + SECRET.encode() + b"</x>"
    save(quarters().convert("RGB"), "a.jpg", exif=exif(), icc_profile=profile, comment=SECRET)
    with open(write.folder + "/a.jpg", "rb") as file:
        content = file.read()
    write("a.jpg", content[:2] + b"\xff\xe1" + struct.pack(">H", len(packet) + 2) + packet + content[2:])
    texts = PngImagePlugin.PngInfo()
    texts.add_text("Author", SECRET)
    texts.add_text("Comment", SECRET * 100, zip=True)
    texts.add_itxt("XML:com.adobe.xmp", SECRET)
    save(quarters(), "b.png", exif=exif(), icc_profile=profile, pnginfo=texts)
    save(quarters(), "c.webp", exif=exif(), icc_profile=profile, xmp=SECRET.encode(), lossless=True)


def modes(save, write):
    rgb = quarters().convert("RGB")
    save(rgb.convert("CMYK"), "cmyk.jpg", quality=95)
    save(rgb.convert("L"), "gray.jpg", quality=95)
    save(rgb, "progressive.jpg", quality=95, progressive=True)
    save(rgb, "lossy.webp", quality=95)
    save(rgb, "rgb.png")
    save(rgb.convert("P", palette=Image.ADAPTIVE), "palette.png")
    save(rgb.convert("L"), "gray.png")
    save(rgb.convert("1"), "bit.png")
    rows = b"".join(
        b"\0" + b"".join(struct.pack(">3H", *(value * 257 for value in rgb.getpixel((x, y)))) for x in range(80))
        for y in range(60)
    )
    write("deep.png", png(80, 60, 16, 2, rows))


def alpha(save, write):
    clear = [(255, 0, 0, 255), (0, 255, 0, 128), (0, 0, 255, 0), (255, 255, 255, 255)]
    picture = quarters(colors=clear)
    save(picture, "rgba.png")
    save(picture, "lossless.webp", lossless=True)
    save(picture, "lossy.webp", quality=95)
    save(picture.convert("LA"), "gray.png")
    palette = quarters().convert("RGB").convert("P", palette=Image.ADAPTIVE)
    save(palette, "palette.png", transparency=palette.getpixel((20, 45)))


def profiles(save, write):
    """The profile of sRGB, with red and green exchanged."""
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    exchanged = profile.replace(b"rXYZ", b"?XYZ", 1).replace(b"gXYZ", b"rXYZ", 1).replace(b"?XYZ", b"gXYZ", 1)
    rgb = quarters().convert("RGB")
    save(rgb, "a.jpg", icc_profile=exchanged, quality=95, subsampling=0)
    save(rgb, "b.png", icc_profile=exchanged)
    save(rgb, "c.webp", icc_profile=exchanged, lossless=True)
    save(rgb, "damaged.png", icc_profile=exchanged[:200])


def sizes(save, write):
    save(quarters(5000, 2500).convert("RGB"), "wide.jpg")
    save(quarters(300, 6000), "high.png")
    save(quarters(6000, 300), "wide.webp", lossless=True)
    save(quarters(640, 480).convert("RGB"), "small.jpg")
    save(quarters(1, 1), "pixel.png")
    noise = Image.merge("RGB", [Image.effect_noise((2000, 1500), 90) for _ in range(3)])
    save(noise, "noise.png", compress_level=1)


def animations(save, write):
    frames = [quarters(), quarters(colors=QUARTERS[::-1])]
    save(frames[0], "a.webp", save_all=True, append_images=frames[1:], lossless=True)
    save(frames[0], "b.png", save_all=True, append_images=frames[1:])


def others(save, write):
    save(quarters().convert("RGB"), "a.gif")
    save(quarters().convert("RGB"), "b.bmp")
    save(quarters().convert("RGB"), "c.tiff")
    write("d.svg", b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')
    write("e.pdf", b"%PDF-1.7\n")
    write("f.heic", b"\0\0\0\x18ftypheic\0\0\0\0mif1heic")
    write("g", b"")


def bombs(save, write):
    huge = png(60000, 60000, 8, 0, b"\0" * 1000)
    write("pixels.png", huge)
    save(quarters().convert("RGB"), "small.jpg")
    with open(write.folder + "/small.jpg", "rb") as file:
        jpeg = file.read()
    frame = jpeg.index(b"\xff\xc0")
    write("pixels.jpg", jpeg[: frame + 5] + struct.pack(">HH", 65500, 65500) + jpeg[frame + 9 :])
    save(quarters().convert("RGB"), "small.webp", quality=80)
    with open(write.folder + "/small.webp", "rb") as file:
        webp = file.read()
    write("pixels.webp", webp[:26] + struct.pack("<HH", 16383, 16383) + webp[30:])
    # Rows that are there, of more than the limit.
    write("rows.png", png(8193, 8193, 1, 0, b"\0" * (1 + 1025) * 8193))


def scans(save, write):
    """The last scan of a progressive picture, which changes it no more, 400 and 2000 times."""
    save(quarters().convert("RGB"), "p.jpg", progressive=True)
    with open(write.folder + "/p.jpg", "rb") as file:
        jpeg = file.read()
    last = jpeg.rindex(b"\xff\xda")
    for count in (400, 2000):
        write(f"{count}.jpg", jpeg[:last] + jpeg[last:-2] * count + jpeg[-2:])


def ballast(save, write):
    """Metadata that inflates to 100 MB."""
    zeros = zlib.compress(bytes(100_000_000), 9)
    save(quarters(), "small.png")
    with open(write.folder + "/small.png", "rb") as file:
        small = file.read()
    text = chunk(b"zTXt", b"Comment\0\0" + zeros)
    write("text.png", after_header(small, *[text] * 20))
    write("profile.png", after_header(small, chunk(b"iCCP", b"name\0\0" + zeros)))
    write("many.png", after_header(small, *[chunk(b"tEXt", b"a\0b")] * 500_000))


def polyglots(save, write):
    script = b"<script>alert(1)</script>"
    save(quarters().convert("RGB"), "a.jpg", comment=script, quality=95)
    save(quarters(), "b.png")
    save(quarters(), "c.webp", lossless=True)
    for name in ("a.jpg", "b.png", "c.webp"):
        with open(f"{write.folder}/{name}", "ab") as file:
            file.write(script + b"PK\x03\x04" + script)


def seeds(save, write):
    """Small, so that a mutation hits what matters."""
    rgb = quarters(40, 30).convert("RGB")
    save(rgb, "a.jpg", exif=exif(6))
    save(rgb, "b.jpg", progressive=True)
    save(rgb.convert("CMYK"), "c.jpg")
    save(quarters(40, 30), "d.png", exif=exif(6))
    save(rgb.convert("P", palette=Image.ADAPTIVE), "e.png")
    save(rgb, "f.webp", quality=80)
    save(quarters(40, 30), "g.webp", lossless=True)
    save(quarters(40, 30, [(1, 2, 3, 4)] * 4), "h.webp", quality=50, exif=exif(3))


def show(path):
    with Image.open(path) as picture:
        picture.load()
        rgba = picture.convert("RGBA")
        width, height = picture.size
        middles = [(width * x // 4, height * y // 4) for y in (1, 3) for x in (1, 3)]
        # Of these Pillow tells the meaning, and each picture has them.
        usual = {"jfif", "jfif_version", "jfif_unit", "jfif_density", "loop", "background", "timestamp", "duration"}
        names = sorted(set(picture.info) - usual) + (["exif"] if picture.getexif() else [])
        colors = [value for place in middles for value in rgba.getpixel(place)]
        print(picture.format, width, height, picture.mode, *colors, *names)


def make(name, folder):
    def save(picture, file, **options):
        picture.save(f"{folder}/{file}", **options)

    def write(file, content):
        with open(f"{folder}/{file}", "wb") as output:
            output.write(content)

    write.folder = folder
    globals()[name](save, write)


if sys.argv[1] == "make":
    make(*sys.argv[2:])
else:
    for path in sys.argv[2:]:
        show(path)
