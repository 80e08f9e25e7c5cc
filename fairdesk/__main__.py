"""``python -m fairdesk`` is the ``fairdesk`` command."""

from fairdesk.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
