"""Small proteins that nobody has seen, as PDB and mmCIF texts; the atoms lie on a line.

A protein is a dict: `chains` with residues such as "1" or "52A", `helices` as (first, last, class)
and `sheets` by name, strands as (first, last, sense), where an end is written "A:12".
"""

from __future__ import annotations

import io

CATEGORY_OF_HELIX = (
    "id",
    "conf_type_id",
    "pdbx_PDB_helix_class",
    "beg_auth_asym_id",
    "beg_auth_seq_id",
    "pdbx_beg_PDB_ins_code",
    "end_auth_asym_id",
    "end_auth_seq_id",
    "pdbx_end_PDB_ins_code",
)
SENSE = {1: "parallel", -1: "anti-parallel"}
BARREL = {
    "chains": {"A": range(1, 61), "B": range(1, 21)},
    "helices": [("A:3", "A:9", 1), ("A:21", "A:34", 1), ("A:50", "A:53", 5), ("B:2", "B:12", 6)],
    "sheets": {
        "A": [("A:11", "A:15", 0), ("A:36", "A:39", 1), ("A:42", "A:48", -1), ("A:11", "A:15", -1)],
        "B": [("A:55", "A:58", 0), ("B:14", "B:18", -1)],
    },
}


def split(residue):
    """The number and the insertion code of a residue."""
    text = str(residue)
    code = text[-1] if text[-1].isalpha() else ""
    return text.removesuffix(code), code


def end(text):
    chain, _, residue = text.partition(":")
    return chain, *split(residue)


def atoms(protein, models=1, altlocs=False):
    """Model, serial number, name, alternate id, residue name, chain, number, code and place."""
    for model in range(1, models + 1):
        serial = 0
        for chain, residues in protein["chains"].items():
            for i, residue in enumerate(residues):
                for name in ("N", "CA", "C"):
                    for alternate in ("A", "B") if altlocs and i == 1 else ("",):
                        serial += 1
                        place = 3.8 * i + serial % 3
                        yield model, serial, name, alternate, "ALA", chain, *split(residue), place
            serial += 1
            yield model, serial, "CA", "", "CA", chain, str(900 + serial % 90), "", 1.0  # calcium


def as_pdb(protein, *, models=1, altlocs=False, records=True):
    lines = ["HEADER    MADE UP"]
    for i, (first, last, cls) in enumerate(protein.get("helices", ()) if records else (), 1):
        (c1, n1, i1), (c2, n2, i2) = end(first), end(last)
        lines.append(
            f"HELIX  {i:>3} {i:>3} ALA {c1:1} {n1:>4}{i1:1} ALA {c2:1} {n2:>4}{i2:1}{cls:>2}"
        )
    for name, strands in (protein.get("sheets", {}) if records else {}).items():
        for i, (first, last, sense) in enumerate(strands, 1):
            (c1, n1, i1), (c2, n2, i2) = end(first), end(last)
            lines.append(
                f"SHEET  {i:>3} {name:>3}{len(strands):>2} ALA {c1:1}{n1:>4}{i1:1} "
                f"ALA {c2:1}{n2:>4}{i2:1}{sense:>2}"
            )
    last_model = 0
    for model, serial, name, alternate, residue, chain, number, code, x in atoms(
        protein, models, altlocs
    ):
        if models > 1 and model != last_model:
            lines += ["ENDMDL"] * (last_model > 0) + [f"MODEL     {model:>4}"]
            last_model = model
        kind = "HETATM" if residue == "CA" else "ATOM  "
        padded = f"{name:<4}" if residue == "CA" else f" {name:<3}"
        lines.append(
            f"{kind}{serial:>5} {padded}{alternate or ' '}{residue:>3} {chain:1}{number:>4}"
            f"{code or ' '}   {x:>8.3f}{model:>8.3f}{0:>8.3f}  1.00  0.00          "
            f"{'CA' if residue == 'CA' else name[0]:>2}"
        )
    lines += ["ENDMDL"] * (models > 1) + ["END", ""]
    return "\n".join(lines)


def loop(category, items, rows):
    """A category of a CIF file; nothing without rows."""
    if not rows:
        return []
    names = [f"_{category}.{item}" for item in items]
    quoted = [" ".join(str(value) or "?" for value in row) for row in rows]
    return ["loop_", *names, *quoted, "#"]


def as_cif(protein, *, models=1, altlocs=False, records=True):
    helices, ranges, order = [], [], []
    for i, (first, last, cls) in enumerate(protein.get("helices", ()) if records else (), 1):
        helices.append((f"HELX_P{i}", "HELX_P", cls, *end(first), *end(last)))
    for name, strands in (protein.get("sheets", {}) if records else {}).items():
        for i, (first, last, sense) in enumerate(strands, 1):
            ranges.append((name, i, *end(first), *end(last)))
            if sense:
                order.append((name, i - 1, i, SENSE[sense]))
    sites = []
    for model, serial, name, alternate, residue, chain, number, code, x in atoms(
        protein, models, altlocs
    ):
        group = "HETATM" if residue == "CA" else "ATOM"
        element = "CA" if residue == "CA" else name[0]
        label = "." if residue == "CA" else serial
        first = (group, serial, element, name, alternate or ".", residue, chain, 1, label)
        place = (code or "?", f"{x:.3f}", model, 0, 1, 0, "?")
        sites.append((*first, *place, number, residue, chain, name, model))
    columns = "group_PDB id type_symbol label_atom_id label_alt_id label_comp_id label_asym_id "
    columns += "label_entity_id label_seq_id pdbx_PDB_ins_code Cartn_x Cartn_y Cartn_z occupancy "
    columns += "B_iso_or_equiv pdbx_formal_charge auth_seq_id auth_comp_id auth_asym_id "
    columns += "auth_atom_id pdbx_PDB_model_num"
    return "\n".join(
        [
            "data_MADE_UP",
            "#",
            *loop("struct_conf", CATEGORY_OF_HELIX, helices),
            *loop("struct_sheet_range", ("sheet_id", "id", *CATEGORY_OF_HELIX[3:]), ranges),
            *loop("struct_sheet_order", ("sheet_id", "range_id_1", "range_id_2", "sense"), order),
            *loop("atom_site", columns.split(), sites),
            "",
        ]
    )


def as_bcif(protein, **options):
    """The bytes of a BinaryCIF file, by way of the mmCIF text."""
    from biotite.structure.io import pdbx

    text = pdbx.CIFFile.read(io.StringIO(as_cif(protein, **options)))
    blocks = {}
    for name, block in text.items():
        categories = {}
        for category in block:
            columns = {}
            for item, column in block[category].items():
                mask = None if column.mask is None else column.mask.array
                columns[item] = pdbx.BinaryCIFColumn(
                    pdbx.BinaryCIFData(column.data.array),
                    None if mask is None else pdbx.BinaryCIFData(mask),
                )
            categories[category] = pdbx.BinaryCIFCategory(columns)
        blocks[name] = pdbx.BinaryCIFBlock(categories)
    file = io.BytesIO()
    pdbx.BinaryCIFFile(blocks).write(file)
    return file.getvalue()
