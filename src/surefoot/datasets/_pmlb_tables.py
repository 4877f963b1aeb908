"""What is known of each PMLB table without reading it: its task, size, family, and the checksum of its text."""

from typing import NamedTuple


class Table(NamedTuple):
    """Facts about a table.

    `checksum` is the first 32 digits of the SHA-256 of the uncompressed text. Tables of one `family` hold the same
    rows, rows of one origin, or draws of one generator; the family of a table without kin is empty here.
    """

    task: str
    n_rows: int
    n_columns: int
    n_classes: int | None
    checksum: str
    family: str = ""


TABLES = {
    "analcatdata_authorship": Table(
        "classification", 841, 70, 4, "c56828718607aeb60f1cb503e8d5567c"
    ),
    "analcatdata_dmft": Table("classification", 797, 4, 6, "79b779191637ab0b3086a98ca3f13899"),
    "analcatdata_germangss": Table("classification", 400, 5, 4, "cdbaecd63ab5c9b60c52553dcac37bfb"),
    "analcatdata_lawsuit": Table("classification", 264, 4, 2, "e887dfd130ec98766e0d6a878052bed0"),
    "australian": Table("classification", 690, 14, 2, "f35838dd7fae419eb50b07cf51a484b7"),
    "auto": Table("classification", 202, 25, 5, "29d8509c5836def6bca6774b825250c7"),
    "balance_scale": Table("classification", 625, 4, 3, "eb769c89e8e181688efbf8dfb095c8aa"),
    "banana": Table("classification", 5300, 2, 2, "d353b7d74b67870cd728155844ba7e72"),
    "breast_cancer": Table("classification", 286, 9, 2, "1247743bd1dcdeaf246de866165e662e"),
    "breast_w": Table("classification", 699, 9, 2, "7702f5d83a6bf1c56bedc6e731aeacd8"),
    "bupa": Table("classification", 345, 5, 2, "b0876599502998973876ad1b050c4541"),
    "calendarDOW": Table("classification", 399, 32, 5, "b0fae579d92fe900be85572c7ecee0a8"),
    "cars": Table("classification", 392, 8, 3, "4569fabc1df839069b8ccfa4de42bf4e"),
    "clean1": Table("classification", 476, 168, 2, "49eff606b039a2cb6adc046585a7afcc", "clean"),
    "clean2": Table("classification", 6598, 168, 2, "3e33f019c388d2dea44406b3a34f549e", "clean"),
    "cleve": Table("classification", 303, 13, 2, "787b32f21ffd7e3f9833f8b8976da67c", "heart"),
    "cleveland": Table("classification", 303, 13, 5, "75f734eda0137609fd2f3a44e4af4fcd", "heart"),
    "colic": Table("classification", 368, 22, 2, "b0c9ec5f1287d696d001ea083be42745"),
    "collins": Table("classification", 485, 23, 13, "d88787d543452bfd4e84fcab13cb0bd0"),
    "connect_4": Table("classification", 67557, 42, 3, "8209a4bca4de6c0073d781d31751dc07"),
    "dermatology": Table("classification", 366, 34, 6, "e1cd832897e9270036f9dc26c610d889"),
    "dna": Table("classification", 3186, 180, 3, "776c04209ee961972308cbd653bd89a3", "splice"),
    "ecoli": Table("classification", 327, 7, 5, "6cb5aa31f8f2ed348aad8ad49eb818d5"),
    "fars": Table("classification", 100968, 29, 8, "6142db15b50dd2af73f125affe378c07"),
    "flare": Table("classification", 1066, 10, 2, "268fdde1e72712db834590b84b275800", "flare"),
    "glass": Table("classification", 205, 9, 5, "f1e210407b5ea08db1ee8a773fef834b"),
    "haberman": Table("classification", 306, 3, 2, "d2593e5d9593f4d7021f206cc7ba1a4b"),
    "heart_h": Table("classification", 294, 13, 2, "689654b1ca10b0bdb6533445865e7495", "heart"),
    "heart_statlog": Table(
        "classification", 270, 13, 2, "ebd5210816c8c370cf09cf5d07a630da", "heart"
    ),
    "Hill_Valley_with_noise": Table(
        "classification", 1212, 100, 2, "0d980b74b940ffd30ce802dc7f5e8691"
    ),
    "house_votes_84": Table("classification", 435, 16, 2, "272cc0371b5104d949194f603c7d77e7"),
    "irish": Table("classification", 500, 5, 2, "d491e7a309a8c6ae23d3fc649f9e3314"),
    "krkopt": Table("classification", 28056, 6, 18, "1078482432e181d8df028c538312487a"),
    "led24": Table("classification", 3200, 24, 10, "6fc32cac1f2f08b9495ee4d5f01fcea2", "led"),
    "led7": Table("classification", 3200, 7, 10, "aab4e05b2a526ad716644b77fe1bd0ae", "led"),
    "mfeat_factors": Table(
        "classification", 2000, 216, 10, "0fc9228fa5cc7e6e8bfa4e40f1cd07bf", "mfeat"
    ),
    "mfeat_fourier": Table(
        "classification", 2000, 76, 10, "275b825bfa617bf6c57234efed900205", "mfeat"
    ),
    "mfeat_karhunen": Table(
        "classification", 2000, 64, 10, "ee507e0762e9f8deff2f786fdaa099c9", "mfeat"
    ),
    "mfeat_morphological": Table(
        "classification", 2000, 6, 10, "2a910c2b2deee158324b860989c7478c", "mfeat"
    ),
    "mfeat_pixel": Table(
        "classification", 2000, 240, 10, "ab02c1702c32d35a697f1d9fbafb81c0", "mfeat"
    ),
    "mfeat_zernike": Table(
        "classification", 2000, 47, 10, "2bea6db7e76da6fbb049c67904f879c5", "mfeat"
    ),
    "mofn_3_7_10": Table("classification", 1324, 10, 2, "b6846f966f0c5f6c37850a21b9ad3817"),
    "monk1": Table("classification", 556, 6, 2, "ac88c9f5e68d5f6a5d7b54e322235a82", "monk"),
    "monk2": Table("classification", 601, 6, 2, "dcd8ed085970ac5971c31ccd885db372", "monk"),
    "monk3": Table("classification", 554, 6, 2, "ac79eba468a78f55a1d589dba44bf0d0", "monk"),
    "movement_libras": Table("classification", 360, 90, 15, "14818fe1a3c841e847b0a9dfda740378"),
    "new_thyroid": Table("classification", 215, 5, 3, "2c43a50a848d6d6102fe14784f06ac35"),
    "penguins": Table("classification", 344, 7, 3, "27e527f9fa496fec232c67c38909bba2"),
    "prnn_crabs": Table("classification", 200, 7, 2, "ff3569614857a103b73e391221798aa9"),
    "profb": Table("classification", 672, 9, 2, "14e7be2406b84dd5d2722318e59caf11"),
    "ring": Table("classification", 7400, 20, 2, "727dbb9b51acd8e6478bc3930cfeb891"),
    "saheart": Table("classification", 462, 9, 2, "f7b42d1d8082a1b4b67f007421b1296e"),
    "schizo": Table("classification", 340, 14, 3, "5b5709914aa664cb4119fdde2f9a6bb7"),
    "shuttle": Table("classification", 58000, 9, 7, "0ee9339cbf69ca929411b0dfd2b3cb53"),
    "sleep": Table("classification", 105908, 13, 5, "15fa96b47c9c186213e46426a1ab4b23"),
    "solar_flare_2": Table(
        "classification", 1066, 12, 6, "b08d541d6c65bbe6fd041b5f8da25a25", "flare"
    ),
    "soybean": Table("classification", 675, 35, 18, "d944a235ef297dbc51a16c737b37276c"),
    "spect": Table("classification", 267, 22, 2, "47fbf32290e0faeef93509053650a87b", "spect"),
    "spectf": Table("classification", 349, 44, 2, "53e2b091f97c4e64af793b31fd34bda0", "spect"),
    "threeOf9": Table("classification", 512, 9, 2, "65840b0beffc60ebdd82aaf9f38596e4"),
    "tic_tac_toe": Table("classification", 958, 9, 2, "843683f40f8c5652fafd20356e57c4f1"),
    "titanic": Table("classification", 2201, 3, 2, "2ba0083e440e305cd76b38536c4661eb"),
    "tokyo1": Table("classification", 959, 44, 2, "9dc53efe6b0643d45bac3c5346ad380b"),
    "twonorm": Table("classification", 7400, 20, 2, "8b6ffbf0465d6791555327dcbd82187b"),
    "waveform_21": Table(
        "classification", 5000, 21, 3, "69e810e64c6382afbe297bb3403b7279", "waveform"
    ),
    "xd6": Table("classification", 973, 9, 2, "6e03c4d83863f3f2af012a45cfa7587d"),
    "215_2dplanes": Table("regression", 40768, 10, None, "9067af1b7c3c3c8be03e392999546a7c"),
    "225_puma8NH": Table("regression", 8192, 8, None, "62fd52b03da511a39e923f26a6c7f6d7"),
    "230_machine_cpu": Table("regression", 209, 6, None, "7aa3d85bd6cf5eaed08b939f8db32a14"),
    "344_mv": Table("regression", 40768, 10, None, "8b4e7976388182fa614452f9ea69369f"),
    "519_vinnie": Table("regression", 380, 2, None, "0033a5892844aebe2e70800bb2ec78e6"),
    "529_pollen": Table("regression", 3848, 4, None, "bb7fef82369e1fbed0be0d928ab71ab8"),
    "556_analcatdata_apnea2": Table("regression", 475, 3, None, "41a22fefa027944fb2513796920702b6"),
    "564_fried": Table("regression", 40768, 10, None, "d2d2e6b13f86c2ec1ba6192eaf7201b8"),
    "574_house_16H": Table(
        "regression", 22784, 16, None, "b38bc84b7fa0ae81797d66bc4d8344ce", "house"
    ),
    "666_rmftsa_ladata": Table("regression", 508, 10, None, "7133338518674e3dcd63ca1518c0835f"),
    "690_visualizing_galaxy": Table("regression", 323, 4, None, "cbb9b13559c250ff6d1768a8750913b1"),
    "695_chatfield_4": Table("regression", 235, 12, None, "92c12746685095f951d10a692c6cbe4a"),
    "712_chscase_geyser1": Table("regression", 222, 2, None, "b2908f4af12124db401aa4b6a289b6ba"),
    "1027_ESL": Table("regression", 488, 4, None, "7a5041b2294a4daf15200c430ecf7369"),
    "1028_SWD": Table("regression", 1000, 10, None, "c90b93ec29cee0a1442855b50daec25d"),
    "1029_LEV": Table("regression", 1000, 4, None, "a0984a3c7a9f9c8f904ef9b740c42c3a"),
    "1030_ERA": Table("regression", 1000, 4, None, "14cc652961873b6f31d1793c6b2c7b08"),
    "1193_BNG_lowbwt": Table("regression", 31104, 9, None, "5e0ed3abec83577e59c4161ca769e244"),
    "1199_BNG_echoMonths": Table("regression", 17496, 9, None, "bc7f7858d2639b799050a1da8804ca2c"),
    "4544_GeographicalOriginalofMusic": Table(
        "regression", 1059, 117, None, "e353481baa46ca4c4429f0285e4b883d"
    ),
}
