"""Pictures from folders and stacks: what pillow writes comes back, and what cannot be read is listed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partwise.domains import picture_image, read_pictures
from partwise.io import DataError

Image = pytest.importorskip("PIL.Image")
RNG = np.random.default_rng(0)


def saved(folder, name, array, mode=None, **more):
    folder.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.asarray(array), mode).save(folder / name, **more)
    return folder


def greys(count, height=6, width=9, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (count, height, width), dtype=np.uint8)


@pytest.mark.parametrize("suffix", [".png", ".bmp", ".tiff", ".pgm", ".gif"])
def test_greys_come_back_exactly_from_every_lossless_format(tmp_path, suffix):
    images = greys(4)
    for i, image in enumerate(images):
        saved(tmp_path, f"p{i}{suffix}", image)
    found = read_pictures(tmp_path)
    assert found.data.dtype == np.float32
    assert found.shape == (6, 9)
    assert np.allclose(255 * found.data.reshape(images.shape), images, atol=1e-4)
    assert found.names == [f"p{i}{suffix}" for i in range(4)]
    assert found.notes == ()


@pytest.mark.parametrize("suffix", [".jpg", ".webp"])
def test_colours_come_back_nearly_from_lossy_formats(tmp_path, suffix):
    y, x = np.mgrid[:32, :48]
    image = np.stack([4 * x, 6 * y, 128 + 0 * x], axis=2).astype(np.uint8)
    saved(tmp_path, f"a{suffix}", image, quality=95)
    found = read_pictures(tmp_path)
    assert found.shape == (32, 48, 3)
    assert np.abs(255 * found.data.reshape(image.shape) - image).max() < 25
    grey = read_pictures(tmp_path, colour=False)
    assert grey.shape == (32, 48)
    luma = image @ np.array([0.299, 0.587, 0.114])
    assert np.abs(255 * grey.data.reshape(luma.shape) - luma).max() < 25


def test_sixteen_bits_alpha_palettes_and_cameras_held_sideways(tmp_path):
    deep = np.array([[0, 32768, 65535]], dtype=np.uint16)
    saved(tmp_path / "deep", "a.png", deep)
    saved(tmp_path / "deep", "b.tiff", deep)
    assert np.allclose(read_pictures(tmp_path / "deep").data, [[0, 32768 / 65535, 1]] * 2, atol=1e-4)
    # Transparent black is white on white paper, half transparent black is grey.
    alpha = np.array([[[0, 0, 0, 0], [0, 0, 0, 255], [0, 0, 0, 128]]], dtype=np.uint8)
    saved(tmp_path / "alpha", "a.png", alpha)
    assert np.allclose(
        read_pictures(tmp_path / "alpha", colour=False).data, [[1, 0, 1 - 128 / 255]], atol=0.01
    )
    red = Image.new("P", (2, 1))
    red.putpalette([255, 0, 0, 0, 0, 255])
    red.putpixel((1, 0), 1)
    (tmp_path / "palette").mkdir()
    red.save(tmp_path / "palette" / "a.gif")
    assert read_pictures(tmp_path / "palette").data.tolist() == [[1, 0, 0, 0, 0, 1]]
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90 degrees, clockwise
    saved(tmp_path / "turned", "a.png", greys(1)[0], exif=exif)
    turned = read_pictures(tmp_path / "turned")
    assert turned.shape == (9, 6)
    assert np.allclose(255 * turned.data.reshape(9, 6), np.rot90(greys(1)[0], -1), atol=1e-4)


def test_names_are_in_the_order_of_their_numbers_and_folders_are_labels(tmp_path):
    for name in ("b/p10.png", "b/p9.png", "a/x.PNG", "top.png", "a/.hidden.png"):
        saved(tmp_path / name.rpartition("/")[0], name.rpartition("/")[2], greys(1)[0], format="png")
    (tmp_path / "readme.md").write_text("no picture")
    found = read_pictures(tmp_path, labels=True)
    assert found.names == ["a/x.PNG", "b/p9.png", "b/p10.png", "top.png"]
    assert found.labels.tolist() == ["a", "b", "b", "."]
    assert "1 of its files are no pictures" in found.notes[0]
    assert read_pictures(tmp_path, recursive=False).names == ["top.png"]
    with pytest.raises(DataError, match="no folders to take labels from"):
        read_pictures(tmp_path / "a", labels=True)


def test_sizes_that_differ_are_resized_and_that_is_said(tmp_path):
    for i, (h, w) in enumerate([(10, 20), (12, 24), (14, 28)]):
        saved(tmp_path, f"{i}.png", np.full((h, w), 100, np.uint8))
    found = read_pictures(tmp_path)
    assert found.shape == (12, 24)
    assert np.allclose(found.data, 100 / 255, atol=1e-3)
    assert "sizes differ, from 10 × 20 to 14 × 28; all were resized to 12 × 24" in found.notes[0]
    assert read_pictures(tmp_path, size=(5, 7)).shape == (5, 7)
    assert read_pictures(tmp_path, size=(5, 7)).notes == ()


def test_what_cannot_be_read_is_listed_or_refused(tmp_path):
    saved(tmp_path, "good.png", greys(1, 40, 40)[0])
    whole = (tmp_path / "good.png").read_bytes()
    (tmp_path / "cut.png").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.png").write_text("hello")
    (tmp_path / "none.jpg").write_bytes(b"")
    Image.new("1", (20000, 20000)).save(tmp_path / "bomb.png")
    found = read_pictures(tmp_path)
    assert found.names == ["good.png"]
    why = dict(found.skipped)
    assert set(why) == {"cut.png", "text.png", "none.jpg", "bomb.png"}
    assert "pixels that pillow opens" in why["bomb.png"]
    assert why["text.png"] == "it is no picture, whatever its name says"
    assert "4 of 5 pictures cannot be read" in found.notes[0]
    with pytest.raises(DataError, match=r"cannot be read: .*Without --strict it is left out"):
        read_pictures(tmp_path, strict=True)


def test_empty_folders_lone_pictures_and_wrong_places_get_a_sentence(tmp_path):
    with pytest.raises(DataError, match="has no pictures"):
        read_pictures(tmp_path)
    (tmp_path / "a.png").write_text("x")
    with pytest.raises(DataError, match=r"no picture that can be read: a\.png"):
        read_pictures(tmp_path)
    saved(tmp_path, "b.png", greys(1)[0])
    with pytest.raises(DataError, match=r"b\.png is one picture"):
        read_pictures(tmp_path / "b.png")
    with pytest.raises(DataError, match="no such file"):
        read_pictures(tmp_path / "nowhere")
    with pytest.raises(DataError, match="at least one pixel"):
        read_pictures(tmp_path, size=(0, 3))


def test_memory_is_limited_and_pictures_are_shrunk_to_it(tmp_path, monkeypatch):
    for i in range(4):
        saved(tmp_path, f"{i}.png", np.full((100, 100), 50, np.uint8))
    monkeypatch.setenv("PARTWISE_MAX_BYTES", "100K")
    found = read_pictures(tmp_path)
    assert found.data.nbytes <= 100 * 1024
    assert "shrunk" in found.notes[0]
    with pytest.raises(DataError, match="PARTWISE_MAX_BYTES"):
        read_pictures(tmp_path, size=(100, 100))


def test_stacks_of_every_shape_and_frames_of_one_file(tmp_path):
    images = greys(5)
    np.save(tmp_path / "a.npy", images)
    found = read_pictures(tmp_path / "a.npy")
    assert found.shape == (6, 9)
    assert np.allclose(255 * found.data.reshape(images.shape), images, atol=1e-4)
    np.savez(tmp_path / "flat.npz", X=images.reshape(5, -1) / 255.0, y=np.arange(5))
    assert np.allclose(read_pictures(tmp_path / "flat.npz", size=(6, 9)).data, found.data)
    with pytest.raises(DataError, match="which are no pictures"):
        read_pictures(tmp_path / "flat.npz")
    colours = np.random.default_rng(0).integers(0, 256, (3, 4, 5, 3), dtype=np.uint8)
    np.save(tmp_path / "c.npy", colours)
    assert read_pictures(tmp_path / "c.npy").shape == (4, 5, 3)
    assert read_pictures(tmp_path / "c.npy", colour=False).shape == (4, 5)
    assert read_pictures(tmp_path / "c.npy", size=(8, 8)).data.shape == (3, 192)
    frames = [Image.fromarray(image) for image in images]
    frames[0].save(tmp_path / "s.tiff", save_all=True, append_images=frames[1:])
    stack = read_pictures(tmp_path / "s.tiff")
    assert stack.names == [f"frame{i}" for i in range(5)]
    assert np.array_equal(stack.data, found.data)


@given(
    content=st.binary(max_size=80),
    name=st.sampled_from(["a.png", "a.jpg", "a.gif", "a.bmp", "a.tiff", "a.pgm"]),
)
@settings(max_examples=60, deadline=None)
def test_any_bytes_are_pictures_or_an_error_that_names_the_folder(tmp_path_factory, content, name):
    folder = tmp_path_factory.mktemp("any")
    (folder / name).write_bytes(content)
    try:
        found, said = read_pictures(folder), ""
    except DataError as error:
        found, said = None, str(error)
    assert folder.name in said if found is None else found.data.shape[0] == 1


def test_rows_become_pictures_again():
    image = greys(1)[0]
    again = picture_image(image.reshape(-1) / 255.0, (6, 9), top=1.0)
    assert np.array_equal(np.asarray(again), image)
    assert np.asarray(picture_image(np.zeros(54), (6, 9))).max() == 0


@pytest.mark.parametrize(
    ("dtype", "tops", "by"),
    [
        (np.float32, (0.9, 1.1, 254.0, 256.0), 65535),
        (np.float32, (0.2, 0.9), 1),
        (np.float32, (1e6, 5e5), 1e6),
        (np.int32, (100, 60_000), 65535),
        (np.int32, (60_000, 700_000), 700_000),
    ],
)
def test_all_pictures_without_a_known_white_are_divided_by_one_number(tmp_path, dtype, tops, by):
    for i, top in enumerate(tops):
        saved(tmp_path, f"{i}.tif", np.full((4, 4), top, dtype))
    found = read_pictures(tmp_path)
    assert np.allclose(found.data, np.array(tops)[:, None] / by, rtol=1e-6)
    assert bool(found.notes) == (by != 1)
    if found.notes:
        assert f"divided by {by:,.6g}" in found.notes[0]


def test_negative_pixels_and_pixels_that_are_no_numbers_are_no_picture(tmp_path):
    for name, value in (("a", 0.5), ("b", -5.0), ("c", np.nan)):
        saved(tmp_path, f"{name}.tif", np.full((4, 4), value, np.float32))
    found = read_pictures(tmp_path)
    assert found.names == ["a.tif"]
    assert all("negative or no numbers" in why for _, why in found.skipped)
    assert len(found.skipped) == 2


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.int64, np.float64])
def test_a_stack_is_what_its_pictures_are_as_files(tmp_path, dtype):
    images = greys(5)
    for i, image in enumerate(images):
        saved(tmp_path / "folder", f"{i}.png", image)
    np.save(tmp_path / "stack.npy", images.astype(dtype))
    found = read_pictures(tmp_path / "stack.npy")
    assert np.allclose(found.data, read_pictures(tmp_path / "folder").data, atol=1e-6)
    assert bool(found.notes) == (dtype != np.uint8)


def test_what_is_transparent_in_a_stack_is_white_as_in_files(tmp_path):
    images = np.random.default_rng(0).integers(0, 256, (3, 4, 5, 4), dtype=np.uint8)
    images[0, ..., 3] = 0
    for i, image in enumerate(images):
        saved(tmp_path / "folder", f"{i}.png", image)
    np.save(tmp_path / "stack.npy", images)
    found = read_pictures(tmp_path / "stack.npy")
    assert found.shape == (4, 5, 3)
    assert np.allclose(found.data[0], 1.0)
    assert np.allclose(found.data, read_pictures(tmp_path / "folder").data, atol=1.1 / 255)
