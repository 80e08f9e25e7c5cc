"""What a chart of the window is drawn by."""

from PySide6.QtWidgets import QGraphicsView, QGraphicsWidget


def drawing_items(canvas):
    """Paint a chart; gives the items that draw it, none while the library is not there."""
    canvas.grab()
    views = canvas.findChildren(QGraphicsView)
    items = [item for view in views for item in view.scene().items()]
    return [item for item in items if not isinstance(item, QGraphicsWidget)]
