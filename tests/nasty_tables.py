"""Small tables in awkward notations, for tests of formats that other programs read: (file name, bytes) for each."""

from pathlib import Path


def _lines(*lines: str, end: str = "\n") -> str:
    return "".join(line + end for line in lines)


def _late(count: int, usual: str, odd: str) -> str:
    """A table in which one of many rows, which a sample is unlikely to hold, is written otherwise."""
    rows = [f"{index},{usual},{index % 7}.5" for index in range(count)]
    rows[count // 2 + 3] = f"{count // 2 + 3},{odd},1.5"
    return _lines("id,value,share", *rows)


NASTY_TABLES: dict[str, bytes] = {
    "german.csv": _lines(
        "Nr;Betrag;Datum;Bezahlt;Straße",
        "1;1.234,50;14.03.2030;ja;Am Mühlgraben 5",
        "2;0,99;02.12.2030;nein;Größe",
        "3;n/a;;ja;",
        "4;12.000.000,00;01.01.2031;Ja;Weg 1",
        end="\r\n",
    ).encode("cp1252"),
    "american.csv": _lines(
        "id,amount,paid_on,active,at",
        '1,"1,234.50",3/14/2030,Y,3/14/2030 1:05 PM',
        '2,"12,000.00",12/2/2030,N,12/2/2030 11:45 AM',
        "3,-5.00,1/31/2031,Y,1/31/2031 12:00 AM",
    ).encode(),
    "grouped.csv": _lines("id,people", '1,"1,234"', "2,12", '3,"12,345,678"').encode(),
    "titles.csv": _lines(
        "Report of the harbour office",
        "",
        "made by hand",
        "id,name,price,joined",
        "1,Tea,3.50,2030-01-02",
        "2,Milk,1.20,2030-02-03",
        "3,Bread,2.10,2030-03-04",
    ).encode(),
    "titles_without_header.csv": _lines(
        "Harbour office", "12,3.5,2030-01-02,x", "13,4.5,2030-01-03,y", "14,5.5,2030-01-04,z"
    ).encode(),
    "ambiguous.csv": _lines("id,on", "1,01/02/2030", "2,03/04/2030", "3,05/06/2030").encode(),
    "no_such_day.csv": _lines(
        "id,on", *(f"{day},{day:02d}.02.2031" for day in range(1, 31))
    ).encode(),
    "missing_words.csv": _lines(
        "id,price,on,note", "1,3.5,2030-01-02,NA", "2,NULL,-,x", "3,n/a,2030-01-04,-", "4,2,,"
    ).encode(),
    "leading_zeros.csv": _lines(
        "code,count", *(f"{number},{number}" for number in range(10, 50)), "007,7"
    ).encode(),
    "late_word.csv": _late(3000, "17", "about 17").encode(),
    "late_float.csv": _late(3000, "17", "17.5").encode(),
    "late_missing.csv": _late(3000, "17", "NULL").encode(),
    "late_date.csv": _late(3000, "2030-01-02", "02.01.2030").encode(),
    "late_boolean.csv": _late(3000, "yes", "perhaps").encode(),
    "zones.csv": _lines(
        "id,at,moment,noon,mixed",
        "1,2030-01-02T03:04:05Z,2030-01-02 03:04:05.25,12:00,2030-01-02T03:04:05",
        "2,2030-01-03T03:04:05+02:00,2030-01-02 03:04:05.5,23:59,2030-01-02T03:04:05.5",
        "3,2030-01-04T03:04:05-08:00,2030-01-02 03:04:05.125,00:00,2030-01-02 03:04",
    ).encode(),
    "months.csv": _lines(
        "id,on,long,year",
        "1,3 Mar 2030,March 3 2030,03-Mar-30",
        "2,14 Apr 2031,April 14 2031,14-Apr-31",
    ).encode(),
    "single_quotes.csv": _lines(
        "id,name,price", "1,'Tea, green',3.5", "2,'It''s milk',2.5", "3,'Bread',1.5"
    ).encode(),
    "backslashes.csv": _lines(
        "id,name,price",
        '1,"Tea \\"green\\" leaf",3.5',
        '2,"Milk \\"whole\\" fat",2.5',
        '3,"Bread \\"dark\\" rye",1.5',
    ).encode(),
    "line_breaks.csv": _lines(
        "id,address,amount", '1,"Mill Lane 4\nEastmere",3.5', '2,"one\n\nthree",2', "3,x,1"
    ).encode(),
    "utf8_mark.csv": b"\xef\xbb\xbf" + _lines("id,name", "1,Zoë", "2,Åse").encode(),
    "utf16.csv": _lines("id,name,price", "1,Zoë,3.5", "2,Åse,2.5").encode("utf-16"),
    "cyrillic.csv": _lines(
        "номер;город;цена",
        "1;Петрозаводск;3,5",
        "2;Нижний Новгород;12,25",
        "3;Калининград;7,00",
        "4;Екатеринбург;8,75",
    ).encode("cp1251"),
    "ragged.csv": _lines(
        "id,name,price", "1,Tea,3.5", "2,Milk", "3,Bread,1.5,extra", "4,Salt,2.5", "5,Oil,7.5"
    ).encode(),
    "blank_lines.csv": _lines("id,name,price", "1,Tea,3.5", "", "2,Milk,1.5", "3,Oil,2").encode(),
    "tabs.txt": _lines("id\tname\tprice", "1\tTea\t3.5", "2\tMilk \t 1.5", "3\tOil\t2").encode(),
    "one_column.csv": _lines("price", "3.5", "1.5", "2").encode(),
    "big_integers.csv": _lines(
        "id,big,huge",
        *(f"{n},{9 * 10**17 + n},{10**25 + n}" for n in range(5)),
    ).encode(),
    "exponents.csv": _lines("id,value", "1,1e-5", "2,2.5E+10", "3,12", "4,.5", "5,7.").encode(),
    "padded.csv": _lines(
        "id,count,on,flag", "1,  5,2030-01-02 , yes", "2, 12,2030-01-03,no", "3,100, 2030-01-04,no"
    ).encode(),
    "hashes.csv": _lines("tag,count", "#one,1", "#two,2", "three,3").encode(),
    "all_missing.csv": _lines("id,gone,dash", "1,,-", "2,,-", "3,,n/a").encode(),
    "quotes'; DROP TABLE x; --.csv": _lines(
        '"na""me","a;b","c\'d","e', 'f","select"', "1,2,3,4,5", "6,7,8,9,10", "11,12,13,14,15"
    ).encode(),
    "repeated.csv": _lines("id,name,id,ID", "1,a,2,3", "4,b,5,6").encode(),
}


def write_nasty_tables(folder: Path) -> list[Path]:
    """Write all tables into a folder and return their paths."""
    paths = []
    for name, content in NASTY_TABLES.items():
        (folder / name).write_bytes(content)
        paths.append(folder / name)
    return paths
