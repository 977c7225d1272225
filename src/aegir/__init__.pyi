from aegir.answers.annotation import ColumnAnnotation as ColumnAnnotation
from aegir.answers.annotation import Guess as Guess
from aegir.answers.annotation import TableAnnotation as TableAnnotation
from aegir.pipeline.run import Annotations as Annotations
from aegir.pipeline.run import annotate as annotate
from aegir.tables.readers import read_tables as read_tables
from aegir.tables.table import Column as Column
from aegir.tables.table import Table as Table
