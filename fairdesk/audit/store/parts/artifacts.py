"""What an audit file keeps of what runs made: certificates, rows to add, retrained models."""

from __future__ import annotations

import io
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.plan.labels import why_wrong
from fairdesk.audit.store.file import MISFITS, AuditFile, json_text
from fairdesk.audit.store.records import ModelFile
from fairdesk.audit.store.schema import damaged
from fairdesk.certify.proof import certificate, certificate_reading
from fairdesk.results.mitigation import Augmented, Retrained

#: The number that stands for no one trial of a repair.
NO_TRIAL = -1
#: SQLite takes no more in one piece than a little more.
MOST_FILE_BYTES = 900_000_000


class Artifacts(AuditFile):
    """What the runs of an audit file made."""

    def certify(self, run_id: int, header: bytes, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Keep a run's certificate (`proof.certificate`), in place of the one before.

        Which model it speaks of, how that is fed, and who may be asked about is written into it
        from the audit's own question, whatever its maker says.

        Raises
        ------
        CertificateError
            When header and arrays are no certificate of this audit.
        """
        own_header = certificate.about(
            certificate.decoded(header),
            self.spec.model,
            self.spec.mapping,
            self.spec.domain,
            self.spec.versions,
        )
        certificate_reading.check(own_header, arrays)
        file = io.BytesIO()
        certificate.write(file, certificate.encoded(own_header), arrays)
        with self._writing():
            self._connection.execute(
                "INSERT OR REPLACE INTO certificate VALUES (?, ?)", (run_id, file.getbuffer())
            )

    def certificate(self, run_id: int) -> tuple[bytes, dict[str, NDArray[Any]]] | None:
        """Return a run's certificate: its header and its arrays; ``None`` where it has none."""
        rows = self._all("SELECT file FROM certificate WHERE run = ?", run_id)
        if not rows:
            return None
        try:
            return certificate_reading.unpack(io.BytesIO(rows[0][0]))
        except (certificate.CertificateError, *MISFITS) as error:
            raise damaged(self.path) from error

    def certified_runs(self) -> tuple[int, ...]:
        """Return the numbers of the runs that have a certificate."""
        return tuple(run for (run,) in self._all("SELECT run FROM certificate ORDER BY run"))

    def keep_rows(self, run_id: int, added: Augmented) -> None:
        """Keep the rows that a repair adds, in place of those before."""
        description = json_text((added.phase, len(added.rows), added.texts))
        codes = np.asarray(added.rows, dtype="<f8").T.tobytes()
        numbers = (added.labels, added.pairs, added.seeds)
        raw = codes + b"".join(np.asarray(each, dtype="<i8").tobytes() for each in numbers)
        self._keep(run_id, NO_TRIAL, "rows", description, zlib.compress(raw))

    def added_rows(self, run_id: int) -> Augmented | None:
        """Return the rows that a repair adds; ``None`` where it made none."""
        made = self._all(
            "SELECT note, content FROM artifacts WHERE run = ? AND trial = ?", run_id, NO_TRIAL
        )
        if not made:
            return None
        ((description, packed),) = made
        phase, count, texts = self._decoded(description, tuple[str, int, tuple[str, ...]])
        d = len(self.spec.domain.attributes)
        try:
            raw = zlib.decompressobj().decompress(packed, count * (d + 3) * 8 + 1)
            by_column = np.frombuffer(raw, "<i8").reshape(d + 3, count)
        except MISFITS as error:
            raise damaged(self.path) from error
        rows = np.array(by_column[:d].view("<f8").T, dtype=np.float64, order="C")
        labels, pairs, seeds = by_column[d:].astype(np.int64)
        added = Augmented(phase, rows, labels, pairs, seeds, texts)
        if why_wrong(added, self.spec.domain, len(self.spec.model.classes), self.spec.data.held):
            raise damaged(self.path)
        return added

    def keep_model(self, run_id: int, file: Retrained) -> None:
        """Keep a file of a retrained model; of one that is too large only that it is."""
        note, content = file.note, file.content.tobytes()
        if len(content) > MOST_FILE_BYTES:
            note = (
                f"The file would have {len(content):,} bytes, and an audit keeps only files of up "
                f"to {MOST_FILE_BYTES:,}."
            )
            content = b""
        self._keep(run_id, file.trial, file.name, note, content)

    def models(self, run_id: int, trial: int) -> dict[str, ModelFile]:
        """Return which files of a trial's model a repair made, by their names."""
        rows = self._all(
            "SELECT name, note, length(content) FROM artifacts WHERE run = ? AND trial = ?"
            " ORDER BY name",
            run_id,
            trial,
        )
        files = self._fitting(rows, list[tuple[str, str, int]])
        return {name: ModelFile(note, size) for name, note, size in files}

    def model(self, run_id: int, trial: int, name: str) -> bytes:
        """Return a file of a trial's model; empty where there is none."""
        rows = self._all(
            "SELECT content FROM artifacts WHERE run = ? AND trial = ? AND name = ?",
            *(run_id, trial, name),
        )
        return self._fitting(rows[0][0], bytes) if rows else b""

    def _keep(self, run_id: int, trial: int, name: str, description: str, content: bytes) -> None:
        with self._writing():
            self._connection.execute(
                "INSERT OR REPLACE INTO artifacts VALUES (?, ?, ?, ?, ?)",
                (run_id, trial, name, description, content),
            )
