"""The language for Pygments: colours in documents, notebooks and on terminals (`pygmentize -l erx gemm.erx`).

The word lists are those of `erx words`; a test compares them.
"""
from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Whitespace

ITEMS = "import format fn spec example".split()
STATEMENTS = "let return assume in choose fold over next covers rejects mutant".split()
OPERATORS = "and or not".split()
HEADS = "round acc approx within any_of scan cast wrap saturate complex float".split()
FUNCTIONS = (
    "normal uniform integers iota add sub mul div fma neg abs sign minimum maximum fmin fmax clamp lt le gt ge eq ne "
    "where floor ceil trunc rint floordiv mod sqrt rsqrt exp exp2 expm1 log log2 log10 log1p sin cos tanh erf sigmoid pow "
    "max min prod any all cumprod argmax sum cumsum matmul reshape transpose broadcast diagonal concat mean dot einsum "
    "stack flip repeat zeros ones full eye vjp len real imag conj hypot exact tiles softmax log_softmax logsumexp "
    "layer_norm rms_norm gelu gelu_tanh silu relu cross_entropy linear gemm addr rope quantize_i8 quantize_e4m3 "
    "quantize_e5m2 dequantize dequantize_blocks"
).split()
CONSTANTS = "true false nan inf pi None".split()
TYPES = (
    "real int bool i8 i16 i32 i64 u8 u16 u32 u64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 complex32 complex64 "
    "complex128 format"
).split()
FORMATS = (
    "f64 float64 double fp64 binary64 f32 float32 single fp32 binary32 f16 float16 half fp16 binary16 bf16 bfloat16 tf32 "
    "tensorfloat32 TF32 f8e4m3fn float8_e4m3fn f8E4M3FN f8e4m3 float8_e4m3 f8E4M3 f8e5m2 float8_e5m2 f8E5M2 f8e4m3fnuz "
    "float8_e4m3fnuz f8E4M3FNUZ f8e5m2fnuz float8_e5m2fnuz f8E5M2FNUZ f8e4m3b11fnuz float8_e4m3b11fnuz float8_e4m3b11 "
    "f8E4M3B11FNUZ f8e3m4 float8_e3m4 f8E3M4 f8e8m0fnu float8_e8m0fnu f8E8M0FNU f6e2m3fn float6_e2m3fn f6E2M3FN f6e3m2fn "
    "float6_e3m2fn f6E3M2FN f4e2m1fn float4_e2m1fn f4E2M1FN"
).split()
OPTIONS = (
    "rne rna rtz rtp rtn rto sr faithful sat sat_finite nosat ftz daz contract any assoc seq rseq pairwise blocked split "
    "height tensor_core"
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
            (words(FORMATS, prefix=r"\b", suffix=r"\b"), Keyword.Type),
            (words(OPTIONS, prefix=r"\b", suffix=r"\b"), Name.Attribute),
            (r"[A-Za-z_]\w*", Name),
            (r"0[xX][0-9A-Fa-f]+(?:\.[0-9A-Fa-f]*)?(?:[pP][-+]?\d+)?", Number.Hex),
            (r"(?:\d+(?:\.(?!\.)\d*)?|\.\d+)[eE][-+]?\d+|\d+\.(?!\.)\d*|\.\d+", Number.Float),
            (r"\d+", Number.Integer),
            (r"->|\*\*|//|<=|>=|==|!=|\.\.\.?|[-+*/%@<>=]", Operator),
            (r"[()\[\]{},;:.]", Punctuation),
        ]
    }
