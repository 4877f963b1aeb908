"""First 32 digits of the SHA-256 of the archive's own files, train and test, line ends as LF.

None stands for a file without a known checksum: it is read without verification.
"""

CHECKSUMS: dict[str, tuple[str | None, str | None]] = {
    "Adiac": (
        "b15c09d9358b3ee424fe101c7a6345f0",
        "7bc80100ddd719b03acf1b584dc3b7db",
    ),
    "Beef": (
        "a62197379ea58236e8b9dea739a821b3",
        "17cd4d7c06d71d5a6685923e82c222e4",
    ),
    "CBF": (
        "eb25c656d86a28328bca2a3c4bd0dcd5",
        "9485e783f961cbc6343f7da504fd8f6f",
    ),
    "Car": (
        "977f15a5788f3c48a784951ba16f47f7",
        "d1b71519b9d39d0ce8a5addfe75df4c7",
    ),
    "ChlorineConcentration": (
        "8b9e3a5196bb114def12785495934c65",
        "5f53255d7b357f97b82c464c68bab102",
    ),
    "CinCECGTorso": (
        "0dd93f5adc3a7bda151ae51a902d2401",
        "275fc4bb8bfe28c2f267a08538d05de9",
    ),
    "Coffee": (
        "a722ab8acd6c18b11b8fa835fbe523fc",
        "07f25cedb9fd819a201e7de6abbdc444",
    ),
    "DiatomSizeReduction": (
        "6a05133820d99eaec2f4b4ccbb4c718a",
        "b980295da1bc24dda10106436d0e1fed",
    ),
    "ECG200": (
        "bd08b37147ebf205231ad43e02c42dd5",
        "c8ac02caf98be23c47c044fde0262193",
    ),
    "ECGFiveDays": (
        "e81cc7d1b974324b432ce50bc6e9dac8",
        "bb9706f13954be81bf9b47aa6e8634e9",
    ),
    "FaceFour": (
        "fc607f610415432fef99fd19df652475",
        "72716dfe414e3c33255337f747c5c3aa",
    ),
    "FacesUCR": (
        "b240b761de5aca4bb295a2dd5e5be4cf",
        "56c23d0505e7eb491f6933d63b635ca5",
    ),
    "FiftyWords": (
        "1b47c2429c2c62501796f5439b842468",
        "97d2239bb9e6a7daa84b2e1417fd1202",
    ),
    "Fish": (
        "81143ddf6372af0c2fbc79a3bcaa1c97",
        "6ce225c799698bc29b7faa306975de44",
    ),
    "GunPoint": (
        "4d14e4f44a6230087cb4b4ed7844c8b0",
        "5537eb2f3050e1514f3221b5f4c9799b",
    ),
    "Haptics": (
        "d96397f4c9cb5da919ed79ea61e645e0",
        "e735dfdc19729c07ed30611a82b843a4",
    ),
    "ItalyPowerDemand": (
        "fab46ef99232ada65773ed89b131954a",
        "ab22aa53de4ef55f2e2bcbf051856570",
    ),
    "Lightning2": (
        "3d83a87ed1f166b6b57fe4201e943499",
        "0303f4100f7b728a8782f1a1e97562a4",
    ),
    "Lightning7": (
        "1a24ebce9a84dcf2cf2b3b304b60b263",
        "30517c3e117197708f47b7d869560d11",
    ),
    "MedicalImages": (
        "a6778947db6b1a6593cd2c94c5adc541",
        "d098a3dddd408d4da4cd2aef0bba9e7a",
    ),
    "MoteStrain": (
        "ebd2f254f42f7399a754fb94cbea230e",
        "274054773af4248858e904af818b4574",
    ),
    "OSULeaf": (
        "04684daa02bc30798ac0bad45f2b4844",
        "89c846159a1ac5480bcc4e22f01afe0d",
    ),
    "OliveOil": (
        "b87bcb88d3abd3e4eb3c03897ce3895e",
        "116f46063c4af9e1de9096bec873bc99",
    ),
    "Plane": (
        "7634899348f59dc7d45f4bedfdca8545",
        "4bbca4e4355bf5fb56f0609203ca5fa6",
    ),
    "SonyAIBORobotSurface1": (
        "71487dd296ad3ccd82c07b2f412dad54",
        "b65c5401130e362f6c2c26c9afdab801",
    ),
    "SonyAIBORobotSurface2": (
        "247ee1c6f2f29b1ba716bc520e6b629f",
        "cd1a080edf800eaadf811d59fd6e4e59",
    ),
    "SwedishLeaf": (
        "b3c6c99d5b298b27a73d42edc6d3d33d",
        "a11cd64664dfffe9d01901fbd8233b55",
    ),
    "Symbols": (
        "3921a106708394094e6402121d31a9ca",
        None,
    ),
    "SyntheticControl": (
        "58af636cbd5592bdda45ba638629e40f",
        "cd44464b200820913f928a952af78d51",
    ),
    "Trace": (
        "4a47b31e5614c8d304a5f53d5cb4b188",
        "719d719c25d1fb60ffd39d8d999c9e82",
    ),
    "TwoLeadECG": (
        "63c29e3f7f0411b729c6c90732cb1c1c",
        "18dd890ee9963869e22b137aa4e54736",
    ),
    "TwoPatterns": (
        "fe4756d0a92e39994e3cc410912ef4c6",
        None,
    ),
    "Wafer": (
        "a5d44c056e929ce6f406c9e88c135f1d",
        None,
    ),
    "WordSynonyms": (
        "7559f1b9075915d381edbd8ed34c8271",
        "240ba3cfab0ea1e8583a63672c7b505d",
    ),
}
