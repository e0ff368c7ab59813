"""PDF files written by hand, as small as the format allows (ISO 32000-1), with what real ones do to a reader of their text."""

import hashlib
import zlib
from collections.abc import Sequence

HEIGHT, LEFT, LINE_HEIGHT = 792, 72, 14
PADDING = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")
FILE_ID = bytes(range(16))

Line = tuple[int, int, str]


def lines_at(left: int, lines: Sequence[str], top: int = HEIGHT - 72) -> list[Line]:
    """Lines of text one below the other."""
    return [(left, top - number * LINE_HEIGHT, line) for number, line in enumerate(lines)]


def pdf(
    pages: Sequence[Sequence[Line]],
    *,
    title: str | None = None,
    created: str | None = None,
    compressed: bool = True,
    password: bytes | None = None,
) -> bytes:
    """A PDF of pages with lines of text at places; with a password, encrypted (RC4, 40 bits).

    Text is drawn by a composite font whose codes are UTF-16 units with a map to Unicode, so any script can be written.
    """
    contents = [b"BT /F1 11 Tf " + b"".join(drawn(line) for line in page) + b"ET" for page in pages]
    return assembled(contents, title=title, created=created, compressed=compressed, password=password)


def drawn(line: Line) -> bytes:
    """The operators that show one line."""
    left, bottom, text = line
    return b"1 0 0 1 %d %d Tm <%s> Tj " % (left, bottom, text.encode("utf-16-be").hex().encode())


def assembled(
    contents: Sequence[bytes],
    *,
    title: str | None = None,
    created: str | None = None,
    compressed: bool = True,
    password: bytes | None = None,
) -> bytes:
    """A PDF of pages with these content streams."""
    first = 8
    kids = b" ".join(b"%d 0 R" % (first + 2 * number) for number in range(len(contents)))
    key = encryption_key(password) if password is not None else None
    objects: dict[int, bytes] = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Kids [" + kids + b"] /Count %d >>" % len(contents),
        3: b"<< /Type /Font /Subtype /Type0 /BaseFont /Plain /Encoding /Identity-H"
        b" /DescendantFonts [4 0 R] /ToUnicode 5 0 R >>",
        4: b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Plain /CIDToGIDMap /Identity /DW 500 /FontDescriptor 7 0 R"
        b" /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>",
        5: stream(UNICODE_MAP, 5, compressed, key),
        6: information(title, created, key),
        7: b"<< /Type /FontDescriptor /FontName /Plain /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800"
        b" /Descent -200 /CapHeight 700 /StemV 80 >>",
    }
    for number, content in enumerate(contents):
        own = first + 2 * number
        objects[own] = (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 %d] /Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>"
            % (HEIGHT, own + 1)
        )
        objects[own + 1] = stream(content, own + 1, compressed, key)
    trailer = b"/Root 1 0 R /Info 6 0 R /ID [<%s> <%s>]" % ((FILE_ID.hex().encode(),) * 2)
    if password is not None:
        number = len(objects) + 1
        objects[number] = encryption_dictionary(password)
        trailer += b" /Encrypt %d 0 R" % number
    return file_of(objects, trailer)


def file_of(objects: dict[int, bytes], trailer: bytes) -> bytes:
    """The objects with their cross-reference table."""
    written, places = bytearray(b"%PDF-1.6\n"), []
    for number in sorted(objects):
        places.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, objects[number])
    start = len(written)
    written += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    written += b"".join(b"%010d 00000 n \n" % place for place in places)
    written += b"trailer\n<< /Size %d %s >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, start)
    return bytes(written)


def stream(content: bytes, number: int, compressed: bool, key: bytes | None) -> bytes:
    """A stream object."""
    data = zlib.compress(content, 9) if compressed else content
    data = rc4(object_key(key, number), data) if key is not None else data
    coding = b" /Filter /FlateDecode" if compressed else b""
    return b"<< /Length %d%s >>\nstream\n%s\nendstream" % (len(data), coding, data)


def information(title: str | None, created: str | None, key: bytes | None) -> bytes:
    """The document's information dictionary."""

    def string(data: bytes) -> bytes:
        return b"<%s>" % (rc4(object_key(key, 6), data) if key is not None else data).hex().encode()

    own = b"" if title is None else b" /Title " + string(b"\xfe\xff" + title.encode("utf-16-be"))
    return b"<<" + own + (b"" if created is None else b" /CreationDate " + string(created.encode())) + b" >>"


def encryption_dictionary(password: bytes) -> bytes:
    """The standard security handler, revision 2; the owner's password is the user's."""
    owner = owner_entry(password)
    user = rc4(encryption_key(password), PADDING)
    return b"<< /Filter /Standard /V 1 /R 2 /P -4 /O <%s> /U <%s> >>" % (owner.hex().encode(), user.hex().encode())


def owner_entry(password: bytes) -> bytes:
    padded = (password + PADDING)[:32]
    return rc4(hashlib.md5(padded).digest()[:5], padded)


def encryption_key(password: bytes) -> bytes:
    padded = (password + PADDING)[:32]
    return hashlib.md5(padded + owner_entry(password) + (0xFFFFFFFC).to_bytes(4, "little") + FILE_ID).digest()[:5]


def object_key(key: bytes, number: int) -> bytes:
    return hashlib.md5(key + number.to_bytes(3, "little") + b"\0\0").digest()[:10]


def rc4(key: bytes, data: bytes) -> bytes:
    state, j = list(range(256)), 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    i = j = 0
    out = bytearray()
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


UNICODE_MAP = b"""/CIDInit /ProcSet findresource begin
12 dict begin
begincmap
/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def
/CMapName /Adobe-Identity-UCS def
/CMapType 2 def
1 begincodespacerange
<0000> <FFFF>
endcodespacerange
%s
endcmap
CMapName currentdict /CMap defineresource pop
end
end
""" % b"\n".join(
    b"%d beginbfrange\n%s\nendbfrange"
    % (len(block), b"\n".join(b"<%02X00> <%02XFF> <%02X00>" % (high, high, high) for high in block))
    for block in (range(100), range(100, 200), range(200, 216), range(224, 256))
)
