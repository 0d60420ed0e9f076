"""Archives that can't be unpacked."""

from zipfile import ZIP_DEFLATED, ZipFile

FAULTS = ("encrypted", "invalid block", "not a zip file")


def zip_damaged(path, name, fault):
    """Write an archive whose file is encrypted by its flags, has no valid block of deflated data, or is cut off."""
    with ZipFile(path, "w", ZIP_DEFLATED) as opened:
        opened.writestr(name, "1\ta\n" * 500)
    content = bytearray(path.read_bytes())
    begin = 30 + len(name)
    if fault == "encrypted":
        content[6] |= 1
        content[content.rindex(b"PK\x01\x02") + 8] |= 1
    elif fault == "invalid block":
        content[begin] = 0xFF
    else:
        del content[begin:]
    path.write_bytes(content)
