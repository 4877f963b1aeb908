"""Changes of arrays in a stored model, as an attacker would make them."""


def put(field, value, row=0):
    """Change of one field of one node."""

    def change(nodes):
        nodes[field][row] = value
        return nodes

    return change


def first(value):
    def change(values):
        values.reshape(-1)[0] = value
        return values

    return change
