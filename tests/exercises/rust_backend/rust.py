"""A back end outside ccmatic: controllers as Rust, on exact fractions of 128 bits.

A term is an `Option` of a fraction, None where it reads a delay that is not known; then no comparison with it holds.
"""

from ccmatic.language import AnyOf, Between, Components, If, Impossible, Name, NextState, Past, Walker, nodes, value

PRELUDE = """\
#[derive(Clone, Copy, PartialEq)]
struct Q { n: i128, d: i128 }

fn gcd(a: i128, b: i128) -> i128 { if b == 0 { a } else { gcd(b, a % b) } }

fn q(n: i128, d: i128) -> Q {
    let g = gcd(n.abs(), d.abs()) * d.signum();
    Q { n: n / g, d: d / g }
}

impl PartialOrd for Q {
    fn partial_cmp(&self, o: &Q) -> Option<std::cmp::Ordering> {
        (self.n.checked_mul(o.d).unwrap()).partial_cmp(&o.n.checked_mul(self.d).unwrap())
    }
}

type T = Option<Q>;

fn times(a: i128, b: i128) -> i128 { a.checked_mul(b).expect("128 bits") }
fn add(a: T, b: T) -> T { let (a, b) = (a?, b?); Some(q(times(a.n, b.d) + times(b.n, a.d), times(a.d, b.d))) }
fn sub(a: T, b: T) -> T { let b = b?; add(a, Some(Q { n: -b.n, d: b.d })) }
fn mul(a: T, b: T) -> T { let (a, b) = (a?, b?); Some(q(times(a.n, b.n), times(a.d, b.d))) }
fn div(a: T, b: T) -> T { let (a, b) = (a?, b?); Some(q(times(a.n, b.d), times(a.d, b.n))) }
fn max(a: T, b: T) -> T { let (a, b) = (a?, b?); Some(if b > a { b } else { a }) }
fn min(a: T, b: T) -> T { let (a, b) = (a?, b?); Some(if b < a { b } else { a }) }
fn compare(a: T, b: T, holds: fn(&Q, &Q) -> bool) -> bool {
    match (a, b) { (Some(a), Some(b)) => holds(&a, &b), _ => false }
}

fn read(word: &str) -> T {
    if word == "?" { return None }
    let (n, d) = word.split_once('/').unwrap_or((word, "1"));
    Some(q(n.parse().unwrap(), d.parse().unwrap()))
}

fn said(value: T) -> String {
    match value { None => "?".to_string(), Some(v) => format!("{}/{}", v.n, v.d) }
}
"""

MAIN = """
fn main() {
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let mut words = line.split(' ');
        let which: usize = words.next().unwrap().parse().unwrap();
        let input: Vec<T> = words.map(read).collect();
        match PROGRAMS[which](&input) {
            None => println!("impossible"),
            Some(values) => println!("{}", values.iter().map(|v| said(*v)).collect::<Vec<_>>().join(" ")),
        }
    }
}
"""

_CALLS = {"+": "add", "-": "sub", "*": "mul", "/": "div"}
_HOLDS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}


class Function(Walker):
    """Writes a function of Rust: from the values of names to those of several trees, or of state after an update.

    Args:
        name: Its name.
        tree: How each path ends is a term, or, of an update, `NextState` or `Impossible`.
        constants: Exact values of names by which steps back are counted.
        conditions: The names that are conditions.
        file: The file of the controller, for messages.

    `inputs` are the (name, steps back) that it reads, in order; `source` is its text.
    """

    WORLD = "meaning in exact Rust"

    def __init__(self, name, tree, constants, conditions, file):
        super().__init__(file)
        self.constants, self.conditions, self.components = constants, conditions, Components()
        self.inputs, self.variables = {}, []
        for leaf in nodes(tree):
            if isinstance(leaf, Name):
                self.place(leaf)
        ends = self.path(tree)
        lines = [*self.variables, ends]
        body = "\n".join(f"    {line}" for line in lines)
        self.source = f"#[allow(unused)]\nfn {name}(v: &[T]) -> Option<Vec<T>> {{\n{body}\n}}\n"

    def place(self, leaf):
        """Where a name stands among the inputs."""
        back = int(value(leaf.back, self.constants)) if isinstance(leaf, Past) else 0
        return self.inputs.setdefault((leaf.name, back), len(self.inputs))

    def path(self, tree):
        """How a tree ends on each path, as an expression."""
        match tree:
            case If(test, then, other):
                return f"if {self.walk(test)} {{ {self.path(then)} }} else {{ {self.path(other)} }}"
            case Impossible():
                return "None"
            case NextState(values):
                return f"Some(vec![{', '.join(map(self.number, values.values()))}])"
        return f"Some(vec![{self.number(tree)}])"

    def number(self, tree):
        """Return the value of a term, or a condition as 1 or 0. For a choice of the network, return the first or lowest
        value.
        """
        match tree:
            case AnyOf((first, *_)) | Between(low=first):
                tree = first
        written = self.walk(tree)
        is_condition = isinstance(written, _Truth)
        return f"Some(q({written} as i128, 1))" if is_condition else written

    def visit_Local(self, node):
        written = yield node.term
        name = f"x{len(self.variables)}"
        self.variables.append(f"let {name} = {written};")
        return type(written)(name)

    def visit_Number(self, node):
        return f"Some(q({node.value.numerator}, {node.value.denominator}))"

    def visit_Name(self, node):
        place = f"v[{self.place(node)}]"
        return _Truth(f"({place} == Some(q(1, 1)))") if node.name in self.conditions else place

    def visit_Binary(self, node):
        return f"{_CALLS[node.op]}({(yield node.left)}, {(yield node.right)})"

    def visit_Extreme(self, node):
        *firsts, written = yield from self.results(node.terms)
        for first in reversed(firsts):
            written = f"{node.pick}({first}, {written})"
        return written

    def visit_If(self, node):
        return f"(if {(yield node.test)} {{ {(yield node.then)} }} else {{ {(yield node.other)} }})"

    def visit_Comparison(self, node):
        left, right = (yield node.left), (yield node.right)
        return _Truth(f"compare({left}, {right}, Q::{_HOLDS[node.op]})")

    def visit_Logic(self, node):
        several = yield from self.results(node.parts)
        joined = {"and": " && ", "or": " || "}[node.op].join(several)
        return _Truth(f"({joined})" if several else str(node.op == "and").lower())

    def visit_Not(self, node):
        return _Truth(f"!{(yield node.part)}")

    def visit_Item(self, node):
        return (yield self.components.of(node))


class _Truth(str):
    """An expression that is true or false."""

    __slots__ = ()


def program(functions):
    """The text of a program of several Functions, by name: a line that says which and its inputs gives its values."""
    names = ", ".join(functions)
    table = f"static PROGRAMS: [fn(&[T]) -> Option<Vec<T>>; {len(functions)}] = [{names}];\n"
    return "\n".join([PRELUDE, *(function.source for function in functions.values()), table, MAIN])
