"""Details with which a report can be final."""

from fairdesk.audit.store.records import Details, Signer, TemplateKey
from fairdesk.report.content.fields import FIELDS, asked, fields_of

#: What `data_kind` can be.
HISTORICAL, TEST, BOTH = FIELDS["data_kind"].choices


def example_details(template: TemplateKey, **texts: str) -> Details:
    """Return details with which a template's report can be final: the fields' own examples.

    Parameters
    ----------
    template : TemplateKey
        Of which kind of report.
    texts : str
        Fields that say something else.
    """
    given = {"data_kind": HISTORICAL, **texts}
    asked_for = Details(texts=given)
    examples = {
        field.key: field.example for field in fields_of(template) if asked(field, asked_for)
    }
    return Details(
        texts={**examples, **given},
        signers=(Signer("A. Example", "Auditor", "20 November 2026"),),
    )
