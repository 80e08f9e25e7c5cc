"""How the window looks: its spacing and colours, and how controls are drawn."""
