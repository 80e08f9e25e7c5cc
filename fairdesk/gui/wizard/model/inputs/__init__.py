"""How the inputs of a model are made: the tables, and the dialog that changes one."""
