"""Addresses of the tables, and the first 32 digits of the SHA-256 of their CSV text."""

from dataclasses import dataclass

from surefoot.datasets._uci import UCI

PMLB = "https://github.com/EpistasisLab/pmlb/raw/master/datasets"


@dataclass(frozen=True)
class Source:
    """Task, checksum and source of a table.

    The source is a name in PMLB; or the address of a text without a header, with the column names in
    `columns`; or, if there is no file in a simple format, a page that describes the table.
    """

    task: str
    checksum: str
    pmlb_name: str | None = None
    address: str | None = None
    columns: str = ""
    page: str | None = None


SOURCES = {
    "car": Source("classification", "82a158f69eba3f5ed3b7dfbbae2de161", "car"),
    "cmc": Source("classification", "0234b3e22fd5d994cf51f768f6152c72", "cmc"),
    "german_credit": Source(
        "classification",
        "47219f5b6e7567b818e20178a2f1a8fc",
        address=f"{UCI}/statlog/german/german.data",
        columns=(
            "checking_status duration credit_history purpose credit_amount savings employment "
            "installment_rate personal_status other_parties residence_since property age "
            "other_plans housing existing_credits job num_dependents telephone foreign_worker"
        ),
    ),
    "magic_gamma": Source("classification", "5cbebc45ac9f2a783cf747174103bca8", "magic"),
    "optdigits": Source("classification", "f65c8966a3ac6f47f3c5b5ff9abb33ab", "optdigits"),
    "phoneme": Source("classification", "eb7a6b9a79256a7574363145b38ef134", "phoneme"),
    "pima": Source("classification", "49046818a041b8bbfb5444c93ecb3bc4", "pima"),
    "segment": Source("classification", "910b17b6945d7098eb84c17a6b4515f9", "segmentation"),
    "splice": Source("classification", "8002d28ff7b65dfadf757ea0ebe3086e", "splice"),
    "vehicle": Source("classification", "f84a2bfc3203ec1643b1241ad9d804fe", "vehicle"),
    "waveform_40": Source("classification", "465b3c93337d4902bc6649ceefe23684", "waveform_40"),
    "yeast": Source("classification", "d101061ec7026189671e2731efb69018", "yeast"),
    "abalone": Source(
        "regression",
        "dd6df40bb81354b36f4a898c34f31de9",
        address=f"{UCI}/abalone/abalone.data",
        columns=(
            "sex length diameter height whole_weight shucked_weight viscera_weight shell_weight"
        ),
    ),
    "concrete": Source(
        "regression",
        "ed9f7e5fe5ffdf1a22234fafd80e6442",
        page="https://archive.ics.uci.edu/dataset/165",
    ),
    "energy_heating": Source(
        "regression",
        "58426f173d06dd8884169432e30a80dc",
        page="https://archive.ics.uci.edu/dataset/242",
    ),
    "house_8L": Source("regression", "2d354bfc3a9334c0df911c329f96be69", "218_house_8L"),
    "kin8nm": Source(
        "regression",
        "07fa082ce0e9d7d23c09c54a83daaa93",
        page="https://www.cs.toronto.edu/~delve/data/kin/desc.html",
    ),
    "power_plant_ccpp": Source(
        "regression",
        "3021896910777f5c39738a09715f0c54",
        page="https://archive.ics.uci.edu/dataset/294",
    ),
}
