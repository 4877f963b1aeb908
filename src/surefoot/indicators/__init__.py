"""How far one prediction can be trusted."""
