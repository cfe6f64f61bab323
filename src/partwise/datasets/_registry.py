"""What is known of each data file: its place, its checksum, its home page and its terms of use."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Upstream:
    """A publisher's own file from which the same data can be read.

    Parameters
    ----------
    url : str
        Its address.
    known_hash : str
        Its checksum, as pooch writes it.
    filename : str
        Its name in the cache.
    """

    url: str
    known_hash: str
    filename: str


@dataclass(frozen=True)
class Entry:
    """One data file.

    Parameters
    ----------
    path : str
        Its place below a data folder.
    sha256 : str
        Its checksum.
    home : str
        Where the data are published or described.
    terms : str
        What its publishers ask of users.
    upstream : Upstream, optional
        The file to download from the publisher, when there is one at a stable address.
    """

    path: str
    sha256: str
    home: str
    terms: str
    upstream: Upstream | None = None


_MNIST_KERAS = Upstream(
    "https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz",
    "sha256:731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1",
    "mnist.npz",
)
_NEWS_TAR = Upstream(
    "https://ndownloader.figshare.com/files/5975967",
    "sha256:8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
    "20news-bydate.tar.gz",
)
_MOVIELENS_ZIP = Upstream(
    "https://files.grouplens.org/datasets/movielens/ml-100k.zip",
    "sha256:50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229",
    "ml-100k.zip",
)

_SALAMANDER = "https://freepats.zenvoid.org/Piano/acoustic-grand-piano.html"
_SALAMANDER_TERMS = "CC BY 3.0, Alexander Holm"
_NEWS = "http://qwone.com/~jason/20Newsgroups/"
_NMF_BOOK = "https://gitlab.com/ngillis/nmfbook"

REGISTRY: dict[str, Entry] = {
    "mnist": Entry(
        "digits/mnist.npz",
        "06af5dfe73b70e3bc1c36439982b18a8d76803db9b544f6fdf838a37fbb01b64",
        "http://yann.lecun.com/exdb/mnist/",
        "CC BY-SA 3.0",
        _MNIST_KERAS,
    ),
    "orl": Entry(
        "faces/orl.npz",
        "f337e964fcf5a4546609bc7138a41895bdf26d4a243fa78ef3e15b71c6665bad",
        "https://cam-orl.co.uk/facedatabase.html",
        "courtesy of AT&T Laboratories Cambridge, to be credited when used",
    ),
    "cbcl": Entry(
        "faces/cbcl.npz",
        "4d17294cf3fd419f8d9b5125ca39977736dc6f1d00dfd14a42ec19d644929820",
        "http://cbcl.mit.edu/software-datasets/FaceData2.html",
        "academic use",
    ),
    "swimmer": Entry(
        "faces/swimmer.npz",
        "34ad7cb1d3ffcf69d75e722812cb54837f0f0ff3fae5cb7d4f6fe0ad2d31784d",
        _NMF_BOOK,
        "CC0",
    ),
    "pie": Entry(
        "faces/pie_pose27.npz",
        "e60fa4975748b538bb3d992a5aef20a72d6d446d0a20773c504638bd382abad7",
        "http://www.cad.zju.edu.cn/home/dengcai/Data/FaceData.html",
        "academic use",
    ),
    "20newsgroups_raw": Entry(
        "text/20news_raw.jsonl.gz",
        "462ae4cdbc4e37297db8b32219b737c71ce7135548ac07be521697bcf1d39a61",
        _NEWS,
        "public",
        _NEWS_TAR,
    ),
    "20newsgroups_counts": Entry(
        "text/20news_counts10k.npz",
        "93909708b3482760259e766e4ab7402b12adbfcb2ba3620238f12cd437899d6f",
        _NEWS,
        "public",
        _NEWS_TAR,
    ),
    "bbc_news": Entry(
        "text/bbc_news.npz",
        "e686bf2113ca9a2c9e7c101c0555b7cf77c2470f343a887526f8155ea808ae08",
        "https://github.com/MIND-Lab/OCTIS (articles from http://mlg.ucd.ie/datasets/bbc.html)",
        "research use",
    ),
    "reuters": Entry(
        "text/reuters21578.npz",
        "6f79878f57bb6518f2f2985e37ffd9a5a15fccb8486430d460817fcc936d2ce0",
        "http://www.cad.zju.edu.cn/home/dengcai/Data/TextData.html",
        "research use",
    ),
    "cora": Entry(
        "graphs/cora.npz",
        "b78288fff4d959d6daa066d6aeaad481a77e2121711fcc8ad3287426d02ac2b0",
        "https://linqs.org/datasets/",
        "research use",
    ),
    "football": Entry(
        "graphs/football.npz",
        "3111a3e8e0888e02800ca0eb2ae5af7587af98036821110e446d2c2009aa27f9",
        "https://websites.umich.edu/~mejn/netdata/",
        "research use",
    ),
    "boolean_records_small": Entry(
        "boolean/records_small.npz",
        "e85676b7dced6c8bfd753515e50d2a7f790347a742a6611a4b3104d9f37eea00",
        "https://github.com/kovacsrekaagnes/rank_k_Binary_Matrix_Factorisation",
        "MIT; the records come from the UCI Machine Learning Repository",
    ),
    "boolean_records_large": Entry(
        "boolean/records_large.npz",
        "fc45eb76c3ce6d38adfe2d32c0fd3f27a65644a5f5931e699bcb8a6a46150fab",
        "https://archive.ics.uci.edu/",
        "UCI terms; binarized copies under GPL-3",
    ),
    "all_aml": Entry(
        "genes/all_aml.npz",
        "66da0084bf9941a10c178198d2cdc0d9fac36f591160137a53ef26da04a3e9d5",
        "https://cran.r-project.org/package=NMF (there as esGolub)",
        "public",
    ),
    "movielens": Entry(
        "ratings/ml100k.npz",
        "d1105bc523c1451c22e2292cd1e692dcf1c49cd2d26a73eec6e6aba6d111b799",
        "https://grouplens.org/datasets/movielens/100k/",
        "GroupLens terms: research use with acknowledgement, no redistribution without permission",
        _MOVIELENS_ZIP,
    ),
    "audio_fevotte_piano": Entry(
        "audio/fevotte_piano.wav",
        "32cb146b1083fbd186c1f66cfb9c5d4184ddd1bebb5e6e74e38e45b88c6d7418",
        "https://www.irit.fr/~Cedric.Fevotte/",
        "research use",
    ),
    "audio_mary_piano": Entry(
        "audio/mary_piano_16k.wav",
        "75f49b8fa97887c3689e904fa656d45342921ad175c8314965e8ee2abc941364",
        _NMF_BOOK,
        "CC0",
    ),
    "audio_salamander_mix": Entry(
        "audio/salamander_mix.wav",
        "807ea14c2125cd1c9db2723e08540251cf8a097a69cf934e3cb1323ffd799000",
        _SALAMANDER,
        _SALAMANDER_TERMS,
    ),
    "audio_salamander_C4": Entry(
        "audio/salamander_stem_C4.wav",
        "e23d573102f47ef1b896ffd23b5ed944b4afa4a1ed6168ba9dd5a56f81b6989a",
        _SALAMANDER,
        _SALAMANDER_TERMS,
    ),
    "audio_salamander_D#4": Entry(
        "audio/salamander_stem_Ds4.wav",
        "50cb8871ade9c6dae461b814ab6cbfdf31c8eadac00d5005d54b7fcf2daf2b77",
        _SALAMANDER,
        _SALAMANDER_TERMS,
    ),
    "audio_salamander_F#4": Entry(
        "audio/salamander_stem_Fs4.wav",
        "b190c6df72db708318c973b91e8fc3feca12f8c10e1e8675d418c0d20531023a",
        _SALAMANDER,
        _SALAMANDER_TERMS,
    ),
    "audio_salamander_A4": Entry(
        "audio/salamander_stem_A4.wav",
        "dee7174ccd186fbdfe5de0b1038af688c94937f5f0be2c37fa626235a70f143d",
        _SALAMANDER,
        _SALAMANDER_TERMS,
    ),
    "audio_salamander_events": Entry(
        "audio/salamander_events.json",
        "ec0636691d329ba5b032bf2eea4949c88823c63d7e4074c4e5b7c49741759ca8",
        _SALAMANDER,
        _SALAMANDER_TERMS,
    ),
}


def register_file(name: str, entry: Entry) -> None:
    """Let ``locate`` and ``describe`` know one more data file.

    Parameters
    ----------
    name : str
        What it is called.
    entry : Entry
        What is known of it.

    Raises
    ------
    ValueError
        If another file has the name.
    """
    if REGISTRY.setdefault(name, entry) != entry:
        raise ValueError(f"The data file '{name}' is already registered, as {REGISTRY[name].path}.")
