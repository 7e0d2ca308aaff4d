"""The language for Pygments: colours in documents, notebooks and on terminals (`pygmentize -l erx gemm.erx`).

The word lists are those of `erx words`; a test compares them.
"""
from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Whitespace

ITEMS = ("import", "format", "fn", "spec", "example")
STATEMENTS = ("let", "return", "assume", "in", "choose", "fold", "over", "next", "covers", "rejects", "mutant")
OPERATORS = ("and", "or", "not")
HEADS = ("round", "acc", "approx", "within", "any_of", "scan", "cast", "wrap", "saturate", "complex", "float")
FUNCTIONS = (
    "abs all any argmax broadcast ceil clamp concat conj cos cumprod cumsum diagonal dot einsum erf exact exp exp2 expm1 eye flip floor fma "
    "fmax fmin full hypot imag integers iota len log log10 log1p log2 matmul max maximum mean min minimum normal ones pow prod real repeat "
    "reshape rint rsqrt sigmoid sign sin sqrt stack sum tanh tiles transpose trunc uniform vjp where zeros"
).split()
CONSTANTS = ("true", "false", "nan", "inf", "None")
TYPES = ("real", "int", "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
FORMATS = r"bf16|bfloat16|tf32|(?:f|fp|float)(?:4|6|8|16|32|64)?_?e\d+m\d+\w*|f(?:64|32|16)|float(?:64|32|16)|f\d+E\d+M\d+\w*|[a-z]+(?<=double|single)|half"
OPTIONS = (
    "rne rna rtz rtp rtn rto sr faithful sat sat_finite nosat ftz daz contract assoc seq rseq pairwise blocked split height tensor_core"
).split()


class ErxLexer(RegexLexer):
    """What a numerical kernel may round."""

    name = "erx"
    url = "docs/language.md"
    aliases = ["erx"]
    filenames = ["*.erx"]
    mimetypes = ["text/x-erx"]

    tokens = {
        "root": [
            (r"\s+", Whitespace),
            (r"#.*", Comment.Single),
            (r'"(?:\\.|[^"\\\n])*"', String.Double),
            (r"\b(spec|fn|format)(\s+)([A-Za-z_]\w*)", bygroups(Keyword.Declaration, Whitespace, Name.Function)),
            (words(ITEMS, prefix=r"\b", suffix=r"\b"), Keyword.Declaration),
            (words(OPERATORS, prefix=r"\b", suffix=r"\b"), Operator.Word),
            (words(HEADS, prefix=r"\b", suffix=r"\b(?=\s*[<(])"), Keyword),
            (words(STATEMENTS, prefix=r"\b", suffix=r"\b"), Keyword),
            (words(FUNCTIONS, prefix=r"\b", suffix=r"\b(?=\s*\()"), Name.Builtin),
            (words(CONSTANTS, prefix=r"\b", suffix=r"\b"), Keyword.Constant),
            (words(TYPES, prefix=r"\b", suffix=r"\b"), Keyword.Type),
            (rf"\b(?:{FORMATS})\b", Keyword.Type),
            (words(OPTIONS, prefix=r"\b", suffix=r"\b"), Name.Attribute),
            (r"[A-Za-z_]\w*", Name),
            (r"0[xX][0-9A-Fa-f]+(?:\.[0-9A-Fa-f]*)?(?:[pP][-+]?\d+)?", Number.Hex),
            (r"(?:\d+(?:\.(?!\.)\d*)?|\.\d+)[eE][-+]?\d+|\d+\.(?!\.)\d*|\.\d+", Number.Float),
            (r"\d+", Number.Integer),
            (r"->|\*\*|//|<=|>=|==|!=|\.\.\.?|[-+*/%@<>=]", Operator),
            (r"[()\[\]{},;:.]", Punctuation),
        ]
    }
