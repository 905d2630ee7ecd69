"""Makes golden/templates/language.jsonl: small templates and what jinja2 renders from them.

    python template_language.py            # needs jinja2==3.1.6, transformers==5.24.0

The first line is {"provenance", "now_unix_s", "context"}: one context for all. Each other line is {"template",
"expected"} or {"template", "error"}: the name of jinja2's or Python's exception. The environment is transformers' own,
with a fixed clock in UTC: NOW seconds after 1970.
"""

import copy
import datetime
import importlib.metadata
import itertools
import json
import pathlib
import platform

from transformers.utils import chat_template_utils

NOW = 1764458400
OUT = pathlib.Path(__file__).parent.parent / "templates" / "language.jsonl"


class Clock(datetime.datetime):
    """The clock of strftime_now, stopped."""

    @classmethod
    def now(cls, tz=None):
        return datetime.datetime.fromtimestamp(NOW, datetime.UTC).replace(tzinfo=None)


def environment():
    chat_template_utils.datetime = Clock
    return chat_template_utils._compile_jinja_template("").environment


CONTEXT = {
    "s": "Hello, World",
    "u": "Füße 日本語 👨‍👩 ǆ",
    "sp": "  padded\t\n ",
    "lines": "one\ntwo\r\n\nfour\x0bfive\u2028six\n",
    "n": 7,
    "neg": -7,
    "f": 2.5,
    "big": 12345678901234567890,
    "t": True,
    "no": None,
    "l": [3, 1, 2],
    "names": ["bob", "Alice", "carol", "Bob"],
    "e": [],
    "d": {"b": 1, "a": {"x": [1, 2]}, "C": None},
    "tricky": {"items": "an item", "keys": 1, "get": 2, "0": "zero"},
    "users": [
        {"name": "ann", "age": 30, "tags": ["x", "y"]},
        {"name": "Bob", "age": 25, "tags": []},
        {"name": "cy", "age": 30, "meta": {"ok": True}},
    ],
    "q": "it's \"quoted\" \\ \x07 \u200b é",
    "html": "<a href='x'>&\"</a>",
}

EXPRESSIONS = r"""
1
-1
+5
- 2 ** 2
2 ** 3 ** 2
2 ** -1
-2 ** 2
10 / 4
10 // 4
-7 // 2
7 // -2
-7 % 3
7 % -3
7.5 % 2
-7.5 % 2
7.5 // 2
-7.5 // 2
1 + 2 * 3 - 4 / 2
(1 + 2) * 3
1e3
1.5e-7
1_000_000
0x1F
0b101
0o17
1.0
100000000000000000000.0
1e16
123456789012345.0
1e15
0.1 + 0.2
1e-5
0.0001
3.14159265358979
1 / 3
1e308 * 10
-1e308 * 10
true + true
true * 3
1 == 1.0
true == 1
1 == '1'
'a' < 'b'
'Z' < 'a'
[1, 2] < [1, 3]
(1, 2) == (1, 2)
(1, 2) == [1, 2]
1 < 2 < 3
1 < 3 < 2
3 > 2 == 2
1 in [1, 2]
1.0 in [1, 2]
'ell' in s
'x' not in s
'a' in d
1 in d
none in [none]
not true
not 0
not not 'x'
true and 'x'
0 or 'y'
'' and 'z'
none or false
1 and 2 or 3
'a' ~ 1 ~ none ~ true ~ 1.5 ~ [1, 'b'] ~ {'k': none}
'a' 'b' "c"
'a' + 'b' * 3
3 * 'ab'
'ab' * -1
[1] + [2]
[1, 2] * 2
(1,) + (2,)
(1)
(1,)
()
[1, 'two', 3.0, none, true, [], {}, ()]
{'a': 1, "b": 'x', 1: 2, none: true}
{'a': 1, 'a': 2}
{1: 'a', 1.0: 'b', true: 'c'}
1 if true else 2
1 if false
'a' if n > 5 else 'b' if n > 3 else 'c'
s
s[0]
s[-1]
s[100]
s[1:4]
s[:-1]
s[::-1]
s[::2]
s[-3:]
s[5:2]
s[10:0:-3]
s[none:3]
u
u[1]
u[5:8]
u[::-1]
u|length
u|upper
u|lower
u|title
u.title()
u.capitalize()
u.swapcase()
u|capitalize
'ὈΔΥΣΣΕΎΣ ΣΑΣ Σ.'|lower
'ﬁne ŉ ǰ'|upper
'İstanbul'|lower
"they're bill's-friends (from the UK)".title()
"they're bill's-friends (from the UK) <tag"|title
l[0]
l[-1]
l[5]
l[1:]
l[::-1]
l['x']
l.0
l.1
d.a
d['a']
d.a.x[1]
d.missing
d['missing']
d.missing is defined
d.C
d.keys()
d.values()
d.items()
d.items()|list
d|items|list
d|list
d|length
d.get('b')
d.get('zz')
d.get('zz', 'dflt')
d.copy()
tricky.items
tricky['items']
tricky.items()|list
tricky.get('get')
tricky['0']
tricky.keys()|list
users[0].name
users|map(attribute='name')|list
users|map(attribute='name')|join(', ')
users|map(attribute='meta.ok', default='?')|list
users|map(attribute='tags.0')|list
users|map('length')|list
names|map('upper')|list
names|map('replace', 'b', 'x')|list
users|selectattr('age', 'equalto', 30)|map(attribute='name')|list
users|selectattr('age', '>', 26)|list|length
users|selectattr('meta')|list|length
users|selectattr('meta', 'defined')|list|length
users|rejectattr('age', 'eq', 30)|map(attribute='name')|list
users|rejectattr('tags')|map(attribute='name')|list
l|select('odd')|list
l|select('>', 1)|list
l|reject('odd')|list
[0, 1, '', 'a', none]|select|list
[0, 1, '', 'a', none]|reject|list
l|sort
l|sort(reverse=true)
names|sort
names|sort(case_sensitive=true)
users|sort(attribute='name')|map(attribute='name')|list
users|sort(attribute='age,name')|map(attribute='name')|list
users|sort(attribute='age', reverse=true)|map(attribute='name')|list
names|unique|list
names|unique(case_sensitive=true)|list
users|unique(attribute='age')|map(attribute='name')|list
d|dictsort
d|dictsort(true)
{'x': 2, 'y': 1}|dictsort(by='value')
{'x': 2, 'y': 1}|dictsort(reverse=true)
users|groupby('age')
users|groupby('age')|map(attribute='grouper')|list
users|groupby('name')|map('first')|list
l|sum
users|sum(attribute='age')
[[1], [2]]|sum(start=[])
l|min
l|max
names|min
users|max(attribute='age')
[]|max
l|first
l|last
e|first
e|last is defined
s|first
s|last
s|list
l|reverse|list
s|reverse
l|join('-')
l|join
s|join(',')
[1, 2, 3, 4, 5]|batch(2)|list
[1, 2, 3, 4, 5]|batch(2, 'x')|list
[1, 2, 3, 4, 5]|slice(3)|list
[1, 2, 3, 4, 5]|slice(3, 'x')|list
s|length
no|default('x')
no|default('x', true)
missing|default('x')
missing|d
''|default('e', boolean=true)
s|replace('l', 'L')
s|replace('l', 'L', 1)
s|replace('', '-')
n|replace('7', '8')
s.replace('l', '', 2)
s.replace('', '.')
sp|trim
sp.strip()
sp.lstrip()
sp.rstrip()
'xxaxx'|trim('x')
'xyaxy'.strip('yx')
'ééaé'.strip('é')
'\u3000a\u00a0b\u2003'.strip()
'<think>a</think>b'.split('</think>')[-1].lstrip('\n')
'a,b,,c'.split(',')
'a,b,,c'.split(',', 2)
'a,b,,c'.rsplit(',', 1)
' a  b c '.split()
' a  b c '.split(none, 1)
' a  b c '.rsplit(none, 1)
''.split()
''.split(',')
'a b'.split(' ')
lines.splitlines()
lines.splitlines(true)
'k=v=w'.partition('=')
'k=v=w'.rpartition('=')
'kvw'.partition('=')
s.startswith('Hell')
s.startswith(('x', 'H'))
s.startswith('ello', 1)
s.startswith('', 20)
s.endswith('d')
s.endswith(('x', 'ld'))
s.endswith('Wor', 0, -2)
s.find('o')
s.find('o', 5)
s.find('zz')
s.rfind('o')
s.index('W')
s.count('l')
s.count('')
s.count('l', 3, 8)
'aaa'.count('aa')
u.find('日')
','.join(names)
','.join('abc')
'abc'.join([])
'x'.center(5) ~ '|'
'x'.center(4, '*')
'ab'.center(5, '*')
'x'|center(6) ~ '|'
'x'.ljust(3) ~ '|' ~ 'x'.rjust(3)
'42'.zfill(5) ~ '-42'.zfill(5)
'a\tb'.expandtabs(4)
'prefix-x'.removeprefix('prefix-') ~ 'x.txt'.removesuffix('.txt')
'abc'.isalpha() ~ 'ab1'.isalpha() ~ ''.isalpha()
'123'.isdigit() ~ '²'.isdigit() ~ '½'.isnumeric() ~ '½'.isdigit()
'a1'.isalnum() ~ ' '.isspace() ~ 'Ab'.istitle() ~ 'AB'.isupper() ~ 'ab'.islower()
'a_1'.isidentifier() ~ '1a'.isidentifier()
'%s is %d years' % ('Ann', 30)
'%s' % 'x'
'%s' % [1, 2]
'%05d|%-5d|%+d|% d' % (42, 42, 42, 42)
'%5.2f|%e|%g|%g' % (3.14159, 12345.678, 0.00001, 1e20)
'%x %X %o %#x' % (255, 255, 8, 255)
'%r %s' % ('a', 'b')
'%(a)s-%(b)s' % {'a': 1, 'b': 2}
'100%%' % ()
'%5s|%-5s|%.2s' % ('ab', 'ab', 'abcdef')
'%c' % 'x'
'%s %s'|format('a', 1)
'%(x)s'|format(x=5)
'{} {}'.format('a', 1)
'{0}{1}{0}'.format('a', 'b')
'{name}: {age:>5}|{age:<5}|{age:^5}'.format(name='Ann', age=30)
'{:.2f} {:,} {:x} {:05d} {:+d} {:e}'.format(3.14159, 1234567, 255, 42, 5, 12345.678)
'{:*^9}|{:>4}|{:<4}|'.format('mid', 'r', 'l')
'{{}} {!r}'.format('q')
'{0[1]} {1.name}'.format(l, users[0])
'{0[name]}'.format(users[1])
'{:%}'.format(0.25)
'{:{w}}|'.format('x', w=4)
3.0|int
'42'|int
' 42 '|int
'42.9'|int
'x'|int
'x'|int(5)
'ff'|int(base=16)
'0x1f'|int(base=16)
'1_000'|int
none|int
true|int
'3.5'|float
'x'|float
'1e3'|float
' inf '|float
5|float
none|float(1.5)
-5|abs
-2.5|abs
2.5|round
3.5|round
2.675|round(2)
1234.5|round(-2)
42.55|round(1, 'floor')
42.51|round(1, 'ceil')
7|round
2.4|round|int
n|string ~ 'x'
f|string
no|string
html|e
html|escape
html|safe
html|urlencode
{'a b': 1, 'c': '/?'}|urlencode
'a/b c?'|urlencode
'Some words, here: 3'|wordcount
'foo bar baz qux'|truncate(9)
'foo bar baz qux'|truncate(9, true)
'foo bar baz qux'|truncate(11, leeway=0)
'a\nb\n\nc'|indent
'a\nb\n\nc'|indent(2, true)
'a\nb\n\nc'|indent(2, blank=true)
'a\nb'|indent('> ')
d|tojson
d|tojson(indent=2)
d|tojson(indent=0)
[]|tojson(indent=2)
[1, [2, {}], {'a': []}]|tojson(indent=1)
d|tojson(separators=(',', ':'))
d|tojson(sort_keys=true)
{'b': 1, 'a': [1, {'z': 0, 'y': 1}]}|tojson(sort_keys=true, indent=4)
u|tojson
u|tojson(ensure_ascii=true)
q|tojson
html|tojson
[1.0, 1e20, 0.1, -0.0, none, true, 1e-7]|tojson
(1, 2)|tojson
{1: 'a', none: 'b', true: 'c', 1.5: 'd'}|tojson
'\u0001\u001f\u007f\u2028'|tojson
big|tojson
big
big == 12345678901234567890
big > 5
[q]
[u, '\n', "it's", 'say "x"', '\x7f', '\u00a0']
['\\', '\'']
range(5)
range(5)|list
range(2, 8, 2)|list
range(5, 0, -2)|list
range(0)|list
range(3)|length
range(10)[3]
range(10)[-1]
range(10)[2:5]|list
3 in range(5)
range(3)|join
namespace(a=1)
namespace(a=1).a
namespace({'b': 2}, c=3).b
namespace().x is defined
dict(a=1, b=2)
dict([('a', 1)])
dict({'a': 1}, b=2)
missing
missing is defined
missing is undefined
missing is none
missing == missing
missing|length
missing|list
missing|upper
missing ~ 'x'
missing|join
missing|string
missing or 'y'
not missing
missing in [1]
1 in missing
'a' in missing
missing == none
missing|first
missing|select|list
missing|items|list
missing|dictsort
missing|tojson
missing.x
missing['x']
missing()
missing + 1
1 + missing
'a' + missing
missing < 1
-missing
missing|int
missing|float
missing|abs
missing[1:]
missing|replace('a', 'b')
missing|trim
missing|map('upper')|list
missing is string
missing is mapping
missing is iterable
missing is sequence
missing is number
d.missing.x
d.x is defined and d.x.y
none.x
none['x']
none.x.y
(5).x is defined
5[0] is defined
n is number
n is integer
f is float
t is boolean
t is number
t is integer
t is true
no is none
s is string
l is sequence
s is sequence
d is sequence
d is mapping
d is iterable
l is iterable
n is iterable
n is odd
n is even
n is divisibleby 7
n is divisibleby(2)
n is eq 7
n is ge 8
n is not none
n is not odd
n is sameas 7
t is sameas true
1 is sameas true
'a' is in ['a']
'abc' is lower
'ABC' is upper
range is callable
s.upper is callable
s is callable
'upper' is filter
'nope' is filter
'odd' is test
users[0] is mapping
d.items() is sequence
d.items() is iterable
d.keys()|list|first
s is string and n > 3
not n is odd
n is odd and f is float or false
[1, 2, 3] is iterable
raise_exception('boom')
strftime_now('%Y-%m-%d')
strftime_now('%d %b %Y, %A %B %j %H:%M:%S %p %I %y %%')
strftime_now('%-d/%-m/%e|%a|%U|%W|%w|%u|%F|%T|%D|%R|%c|%x|%X')
nope()
s()
n.x.y
l.append(4)
d.update({'x': 1})
d.pop('b')
d.clear()
l.sort()
s.nope
s.nope()
s|nope
s is nope
''.__class__
''.__class__.__mro__
d.__class__
1 / 0
1 // 0
1 % 0
1.0 / 0
0 ** -1
1 + 'a'
'a' + 1
'a' - 'b'
[1] + (2,)
1 < 'a'
none < 1
[1] < 'a'
{} < {}
n()
l()
'%d' % 'x'
'%s %s' % ('a',)
'%s' % ('a', 'b')
'%q' % 1
'{} {}'.format(1)
'{x}'.format(1)
'{'.format(1)
{[1]: 2}
[1] in d
s.startswith(1)
s.split('')
s.index('zz')
','.join([1])
l|join(1)
5|length
none|length
5|list
5|first
5|join
range(1000000)
range(0, 10, 0)
{}.keys()[0]
d|tojson(indent='--')
namespace|tojson
l|map('nope')|list
l|select('nope')|list
l|map|list
users|selectattr|list
s|trim(1, 2)
s|upper(1)
s|length(x=1)
n is odd(1)
n is defined 5
none|map('upper')|list
false|selectattr('a')|list
5|select|list
n[1:]
d[1:]
no[:1]
s['a':]
s[1.5:]
s[missing:]
s[::0]
[1]|indent
2.5|truncate(5)
s|trim(x=1)
s|default(1, 2, 3)
d|sort
[1, 'a']|sort
[none, 1]|sort
users|sort
5|round(1, 'x')
s|truncate(2)
s|indent(foo=1)
d|dictsort(by='x')
'\x41\u00e9\U0001F600\101\n\t\q'
"\"" ~ '\''
'é'|length ~ 'e\u0301'|length
'a' if missing else 'b'
[missing]
{'a': missing}
(missing, 1)|length
-0.0
0.0 == -0.0
1e22
9007199254740993.0
9223372036854775807
-9223372036854775807 - 1
1 if 1 else
s.upper().lower()|upper ~ 'x'
(s|upper)[0:2]
s|upper|lower|length + 1
-n|abs
- n|abs
n|abs - 1
2 * n|string|length
[n, n + 1][1]
{'k': [1, {'z': 'deep'}]}['k'][1].z
users[0]['tags'][0]
users[-1].meta.ok
loop is defined
l[1:][0]
l[:2][::-1]
(1, 2, 3)[1:]
s[1:3]|upper
'a,b'.split(',')|last
' x '.strip()|length
's' * n
'x' ~ 'y' * 2
'a' in 'abc' and 'z' not in 'abc'
names|join(', ')|upper
names|list|length
'%c%c' % (65, 0x1F600)
'%c' % 1114112
'%c' % 'ab'
'%5c|' % 66
'Straße ΣΊΣΥΦΟΣ ﬀ İ'.casefold()
'{a}-{b[x]}'.format_map({'a': 1, 'b': {'x': 2}})
'{a}'.format_map({})
cycler('a', 'b').next()
cycler('a').current
cycler('a', 'b').items
cycler()
cycler('a')|length
cycler('a') is iterable
joiner()()
joiner('-') is callable
joiner(1, 2)
joiner('-').sep
namespace(_a=1)
namespace({'_a': 1})
namespace(a=1)._b is defined
'a'|safe + '<b>'
'<b>' + 'a'|safe
'a'|safe ~ '<b>'
('<'|e) + '<'
'<'|e|e
'<'|e|forceescape
'<'|forceescape + '<'
['<'|safe, ('<'|e)]
('%s'|safe) % '<'
('%s %s'|safe) % ('<', '>'|safe)
('%(x)s'|safe) % {'x': '<'}
('%r|%d|%5s'|safe) % ('<', 5, '&')
'%s'|safe|format('<')
('{}|{:>3}|{x}'|safe).format('<', '>', x='&')
('{}'|safe).format('<'|safe)
(','|safe).join(['<', '>'|safe])
','.join(['<'|safe]) + '<'
('a<b'|safe).split('<')
('a<b<c'|safe).rsplit('<', 1)
('a<b'|safe).partition('<')
('a<b'|safe).partition('x')
('<\n>'|safe).splitlines()
('<a>'|safe)[0] + '<'
('<a>'|safe)[1:] + '<'
('<a>'|safe)[::-1] + '<'
('<a>'|safe).upper() + '<'
('<a>'|safe)|upper + '<'
('<a>'|safe)|capitalize + '<'
('<a>'|safe)|title + '<'
('<a>'|safe)|replace('a', '<') + '<'
('a'|safe).replace('a', '<')
('a'|safe) * 2 + '<'
2 * ('a'|safe) + '<'
'a'|safe is escaped
'a' is escaped
'a'|safe|string is escaped
('a'|safe).strip() is escaped
(' a '|safe)|trim + '<'
('a'|safe).center(5) + '<'
('a'|safe).ljust(5) + '<'
('7'|safe).zfill(3) + '<'
'a'|safe|center(5) + '<'
'a'|safe|indent + '<'
'a\nb'|safe|indent(2, true) + '<'
'a b c d'|safe|truncate(5, leeway=0) + '<'
('ab'|safe)|list
('ab'|safe)|first + '<'
('ab'|safe)|last + '<'
('ab'|safe)|reverse + '<'
['a'|safe, '<']|join('>') + '<'
['a', '<']|join('>'|safe) + '<'
'a'|safe == 'a'
{'a'|safe: 1}.a
'a'|safe in ['a']
'<x>'|safe|tojson
1|safe + '<'
none|safe + '<'
('a'|safe) + 1
'a'|safe|length
'a'|safe|urlencode + '<'
('a'|safe).find('a')
'a'|safe|wordcount
['b'|safe, 'a']|sort
'a'|safe is string
('a'|safe)|default('x') + '<'
('a'|safe) and '<'
('a&b'|safe).removeprefix('a') + '<'
('a\tb'|safe).expandtabs(2) + '<'
names|list|length
(names|first)[0]
l|sort|first
names[1:]|join('|')
d.a.x|sum
[d, d]|map(attribute='b')|sum
[[1, 'a'], [2, 'b']]|map('last')|join
[['a', 1], ['b', 2]]|map(attribute=0)|list
[(1, 'x')]|map('join', '-')|list
['a', 'b']|map('default', 'z')|list
l|map('string')|join(',')
['1', '2']|map('int')|sum
{'a': 1}.items()|map('first')|list
[1, 2, 3]|select('in', [1, 3])|list
[1, 2, 3]|reject('in', [1, 3])|list
[s, n, no]|select('string')|list
users|selectattr('name', 'in', ['ann', 'cy'])|list|length
users|map(attribute='tags')|map('length')|list
""".strip("\n").split("\n")

TEMPLATES = [
    # blocks
    "{% set x = 1 %}{% block a %}[{{ x }}]{% endblock %}{% block b %}{% set x = 2 %}{% endblock b %}{{ x }}",
    "{% for x in l %}{% block a %}[{{ x }}{{ loop is defined }}]{% endblock %}{% endfor %}",
    "{% for x in l %}{% block a scoped %}[{{ x }}]{% endblock a %}{% endfor %}",
    "{% block a %}{% endblock %}{% block a %}{% endblock %}",
    "{% for x in l %}{% block a %}{% break %}{% endblock %}{% endfor %}",
    "{% if n %}{% set y = 5 %}{% endif %}{% block a %}{{ y }}{% endblock %}",
    "{% autoescape false %}{{ html }}{% set z = 1 %}{% endautoescape %}{{ z }}",
    # state
    "{% set c = cycler('a', 'b', 'c') %}{% for x in range(5) %}{{ c.next() }}{{ c.current }}{{ c.pos }} {% endfor %}"
    "{{ c.reset() }}{{ c.next() }}",
    "{% set j = joiner('|') %}{% for x in l %}{{ j() }}{{ x }}{% endfor %}{{ j.used }}",
    "{% set j = joiner() %}{{ j() }}{{ j() }}",
    "{% set ns = namespace() %}{% set ns._x = 1 %}",
    "{% set ns = namespace() %}{% set ns.x_ = 1 %}{{ ns.x_ }}",
    "{% macro m() %}<b>{% endmacro %}{{ m() + '<' }}{{ m()|safe + '<' }}",
    "{% set x %}<b>{% endset %}{{ x + '<' }}{{ x is escaped }}",
    "{% set x | safe %}<b>{% endset %}{{ x + '<' }}",
    "{% filter escape %}<{{ html }}>{% endfilter %}",
    "{% for x in ('<a>'|safe).split('a') %}{{ x + '&' }}{% endfor %}",
    # white space
    "a\n{% if true %}\nb\n{% endif %}\nc\n",
    "a\n  {% if true %}  \nb\n  {% endif %}\nc\n\n",
    "a\n  {%- if true -%}  \n  b  \n  {%- endif -%}  \nc",
    "  {{- 1 -}}  x {{+ 2 }} y {{ -3 }}",
    "x {#- c -#} y\n{# c #}\nz {# a\nb #} w",
    "a {%+ if true +%}\n b{%+ endif %}\n c",
    "   {% set x = 1 %}   {{ x }}",
    "{{ 'a\\\nb' }}",
    "{% if 1 %}\n\n\nx\n{% endif %}\n\n",
    "a\r\nb\rc{% if 1 %}\r\nd{% endif %}\r\n",
    "\n\n",
    "\n",
    "",
    "no tags at all",
    "{{ 1 }}\n",
    "{{ 1 }}\n\n",
    "{{\n1\n}}",
    "{% raw %}{{ x }} {% if %}{% endraw %}",
    "a {%- raw -%} {{ x }} {%- endraw -%} b",
    "{% raw %}\n x \n{% endraw %}\ny",
    "  {% raw %} x {% endraw %}  y",
    "{%raw%}{%endraw%}",
    "{% raw %}{# c #}{%+ endraw +%}\nx",
    "\u00a0{% if 1 %}x{% endif %}",
    "\t {% if 1 %}x{% endif %}\t\n\u3000{%- if 1 %}y{% endif %}",
    "{{ '{{ }}' }} {{ \"%}\" }} {{ '#}' }}",
    "{ { } } {a} {%if 1%}x{%endif%} }} %} #}",
    "{#- a -#}{#+ b +#}\nx{##}\ny",
    "{{ 'a' -}}\n\n b {{- 'c' }}",
    "{% if 1 -%}\n  x\n{%- else -%}\n  y\n{%- endif %}\n",
    "{% for i in range(3) %}\n{{ i }}\n{% endfor %}\nend",
    "{% for i in range(3) -%}\n  {{ i }}\n{%- endfor %}\nend",
    # if
    "{% if n == 1 %}a{% elif n == 7 %}b{% else %}c{% endif %}",
    "{% if e %}a{% elif no %}b{% elif missing %}c{% else %}d{% endif %}",
    "{% if s and l %}x{% endif %}{% if not e %}y{% endif %}",
    "{% if 1, 2 %}tuple{% endif %}",
    "{% if n > 5: %}colon{% endif %}",
    # for
    "{% for x in l %}{{ loop.index }}/{{ loop.length }}:{{ x }}{% if not loop.last %},{% endif %}{% endfor %}",
    "{% for x in l %}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.depth }}{% endfor %}",
    "{% for x in l %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }};{% endfor %}",
    "{% for x in l %}{{ loop.previtem is defined }}{{ loop.nextitem is undefined }}{% endfor %}",
    "{% for x in l %}{{ loop.cycle('a', 'b') }}{% endfor %}",
    "{% for x in [1, 1, 2] %}{{ loop.changed(x) }}{% endfor %}",
    "{% for x in e %}x{% else %}empty{% endfor %}",
    "{% for x in missing %}x{% else %}empty{% endfor %}",
    "{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}",
    "{% for k in d %}{{ k }};{% endfor %}",
    "{% for c in 'aé日' %}{{ c }}|{% endfor %}",
    "{% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}",
    "{% for x in l if x > 1 %}{{ loop.index }}{{ x }}{% endfor %}",
    "{% for x in l if x > 5 %}x{% else %}none{% endfor %}",
    "{% for x in l recursive %}{{ x }}{% endfor %}",
    "{% for x in [[1, [2]], [3]] recursive %}{% if x is iterable %}({{ loop(x) }}){% else %}{{ x }}@{{ loop.depth }}{% endif %}{% endfor %}",
    "{% for x in range(10) %}{% if x == 2 %}{% continue %}{% endif %}{% if x == 5 %}{% break %}{% endif %}{{ x }}{% endfor %}",
    "{% for x in l %}{% for y in l %}{% if y == 1 %}{% break %}{% endif %}{{ x }}{{ y }} {% endfor %}{% endfor %}",
    "{% for x in l %}{% set y = x %}{% endfor %}{{ y is defined }}",
    "{% set y = 0 %}{% for x in l %}{{ y }}{% set y = x %}{{ y }}{% endfor %}{{ y }}",
    "{% set ns = namespace(y=0, all=[]) %}{% for x in l %}{% set ns.y = ns.y + x %}{% set ns.all = ns.all + [x] %}{% endfor %}{{ ns.y }}{{ ns.all }}",
    "{% for x in l %}{{ x }}{% endfor %}{{ x is defined }}{{ loop is defined }}",
    "{% for x in l %}{% for y in [1] %}{{ loop.index }}{% endfor %}{{ loop.index }}{% endfor %}",
    "{% for x in l %}{% if loop.first %}{% set v = 'set' %}{% endif %}{{ v }}{% endfor %}",
    "{% for u in users %}{{ u.name }}:{% for t in u.tags %}{{ t }}{% else %}-{% endfor %};{% endfor %}",
    "{% for x in l|sort %}{{ x }}{% endfor %}{% for x in l|reverse %}{{ x }}{% endfor %}",
    "{% for x in (1, 2) %}{{ x }}{% endfor %}{% for x in 1, 2 %}{{ x }}{% endfor %}",
    "{% for i in range(l|length) %}{{ l[i] }}{% endfor %}",
    "{% for i in range(l|length - 1, -1, -1) %}{{ l[i] }}{% endfor %}",
    "{% for x in users|selectattr('age', 'equalto', 30) %}{{ loop.index }}{{ loop.last }}{{ x.name }}{% endfor %}",
    "{% for x in l %}{{ loop }}{% endfor %}",
    "{% for key, value in {'a': 1}|items %}{{ key }}{{ value }}{% endfor %}",
    "{% for k, v in d|dictsort %}{{ k }}{% endfor %}",
    "{% for group in users|groupby('age') %}{{ group.grouper }}:{% for u in group.list %}{{ u.name }}{% endfor %};{% endfor %}",
    "{% for x in l %}{{ loop.nope }}{% endfor %}",
    # set
    "{% set a = 1 %}{% set a = a + 1 %}{{ a }}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}",
    "{% set a, b = [3, 4] %}{{ a }}{{ b }}",
    "{% set (a, b) = (5, 6) %}{{ a }}{{ b }}",
    "{% set t = 1, 2 %}{{ t }}",
    "{% set x %}hi {{ n }}{% endset %}[{{ x }}]{{ x|length }}",
    "{% set x | upper | trim %} hi {% endset %}[{{ x }}]",
    "{% set x %}{% set inner = 1 %}{{ inner }}{% endset %}{{ x }}{{ inner is defined }}",
    "{% set s = s ~ '!' %}{{ s }}",
    "{% if true %}{% set a = 1 %}{% endif %}{{ a }}",
    "{% if false %}{% set s = 1 %}{% endif %}{{ s }}",
    "{% for x in [1, 2] %}{% if false %}{% set s = 5 %}{% endif %}{{ s }}{% endfor %}",
    "{% set ns = namespace() %}{% set ns.a = 1 %}{% set ns.b = ns.a %}{{ ns.b }}{{ ns.c is defined }}",
    "{% set ns = namespace(a=1) %}{% set ns.a, ns.b = 5, 6 %}{{ ns.a }}{{ ns.b }}",
    "{% set ns = namespace(x='') %}{% for i in range(3) %}{% set ns.x = ns.x ~ i %}{% endfor %}{{ ns.x }}",
    "{% set ns = namespace(f=false) %}{% for i in l %}{% if i == 1 and not ns.f %}{% set ns.f = true %}found{% endif %}{% endfor %}{{ ns }}",
    "{% set d.x = 1 %}",
    "{% set a, b = 1 %}",
    "{% set a, b = [1, 2, 3] %}",
    # macros
    "{% macro m(a, b=2, c=none) %}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ m(1) }}|{{ m(1, 3) }}|{{ m(1, c=4) }}|{{ m() }}",
    "{% macro m(a) %}[{{ a }}]{% endmacro %}{{ m('x')|upper }}{{ m(m(1)) }}",
    "{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, x=3) }}",
    "{% macro m() %}{{ caller() }}{% endmacro %}{% call m() %}body{% endcall %}",
    "{% macro m(l) %}{% for i in l %}{{ caller(i) }}{% endfor %}{% endmacro %}{% call(x) m([1, 2]) %}<{{ x }}>{% endcall %}",
    "{% macro m(a, b=a) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}",
    "{% macro fact(n) %}{% if n > 1 %}{{ n * fact(n - 1)|int }}{% else %}1{% endif %}{% endmacro %}{{ fact(5) }}",
    "{% macro m() %}{{ later }}{% endmacro %}{% set later = 'L' %}{{ m() }}",
    "{% macro m() %}{% set n = 100 %}{{ n }}{% endmacro %}{{ m() }}{{ n }}",
    "{% macro m(a) %}{{ a.name }}{% endmacro %}{% for u in users %}{{ m(u) }}{% endfor %}",
    "{% for x in l %}{% macro m() %}{{ x }}{% endmacro %}{{ m() }}{% endfor %}",
    "{% macro m(a, b) %}{% endmacro %}{{ m.name }}{{ m.arguments }}{{ m.catch_kwargs }}{{ m.catch_varargs }}{{ m.caller }}",
    "{% macro m() %}  x\n{% endmacro %}[{{ m() }}]",
    "{% macro m(x) -%}\n  {{ x }}\n{%- endmacro %}[{{ m(1) }}]",
    "{% macro m() %}a{% endmacro %}{{ m(1) }}",
    "{% macro m() %}a{% endmacro %}{{ m(x=1) }}",
    "{% macro m(a) %}a{% endmacro %}{{ m(1, a=2) }}",
    "{% macro m() %}a{% endmacro %}{% call m() %}x{% endcall %}",
    "{% macro m(a=1, b) %}{% endmacro %}",
    "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}B{% endmacro %}{{ a() }}",
    "{% macro m(x) %}{{ x }}{% endmacro %}{{ m(*[1]) }}{{ m(**{'x': 2}) }}",
    "{% macro m(t) %}{% if t is mapping %}{{ '{' }}{% for k, v in t.items() %}{{ k }}:{{ m(v) }}{{ ',' if not loop.last }}{% endfor %}{{ '}' }}{% else %}{{ t }}{% endif %}{% endmacro %}{{ m({'a': {'b': 1}, 'c': 2}) }}",
    "{% macro r(n) %}{{ r(n + 1) }}{% endmacro %}{{ r(0) }}",
    # filter, with, generation, call
    "{% filter upper %}abc {{ s }}{% endfilter %}",
    "{% filter replace('a', 'b')|upper %}aXa{% endfilter %}",
    "{% with a = 1, b = 2 %}{{ a }}{{ b }}{% endwith %}{{ a is defined }}",
    "{% with %}{% set z = 1 %}{{ z }}{% endwith %}{{ z is defined }}",
    "{% with n = n + 1 %}{{ n }}{% endwith %}{{ n }}",
    "{% generation %}a{{ n }}{% endgeneration %}b",
    "{% for m in l %}{% generation %}{{ m }}{{ loop.index }}{% set q = 1 %}{% endgeneration %}{{ q is defined }}{% endfor %}",
    "{%- generation -%}  x  {%- endgeneration -%}  y",
    # generators are used up
    "{% set g = l|select('odd') %}{{ g|list }}{{ g|list }}",
    "{% set g = users|map(attribute='name') %}{{ g|first }}{{ g|list }}",
    "{% set g = e|select %}{% if g %}truthy{% endif %}",
    "{{ (l|map('string'))|length }}",
    # inline if without else prints nothing
    "[{{ 'x' if false }}][{{ ('x' if false) is defined }}]",
    # scoping of names given by the context
    "{% set n = n %}{{ n }}",
    "{% for n in [1] %}{{ n }}{% endfor %}{{ n }}",
    "{% for x in [1] %}{{ n }}{% set n = 2 %}{{ n }}{% endfor %}{{ n }}",
    # errors of syntax
    "{% if %}x{% endif %}",
    "{% if 1 %}x",
    "{% for x in %}{% endfor %}",
    "{% for x of l %}{% endfor %}",
    "{% endif %}",
    "{% nope %}",
    "{% else %}",
    "{{ 1 + }}",
    "{{ (1 }}",
    "{{ 1 ) }}",
    "{{ [1, 2 }}",
    "{{ {'a' 1} }}",
    "{{ 'abc }}",
    "{{ a b }}",
    "{{ }}",
    "{{ 1 ",
    "{% set %}",
    "{% set 1 = 2 %}",
    "{% set true = 2 %}",
    "{% set a.b.c = 2 %}",
    "{% break %}",
    "{% for x in l %}{% macro m() %}{% break %}{% endmacro %}{% endfor %}",
    "{# unclosed",
    "{% raw %} unclosed",
    "{{ x|  }}",
    "{{ x is }}",
    "{{ x. }}",
    "{{ x[ }}",
    "{{ f(a=1, 2) }}",
    "{{ f(**a, *b) }}",
    "{{ n is odd is even }}",
    "{{ $ }}",
    "{{ 1 ! 2 }}",
    "{% call 5 %}{% endcall %}",
    "{% if 1 %}{% endfor %}",
    "{% for x in l %}{% endif %}",
    "{{ 007 }}",
    "{{ ] }}",
    "{% macro m %}{% endmacro %}",
    "{% block a %}{% endset %}",
]


def render(env, template, context):
    try:
        return {"expected": env.from_string(template).render(**context)}
    except RecursionError:
        return {"error": "RecursionError"}
    except Exception as error:  # whatever Python raises is the answer
        return {"error": type(error).__name__}


def cases():
    yield from ("{{ " + expression + " }}" for expression in EXPRESSIONS)
    yield from TEMPLATES
    operands = ["1", "2.5", "true", "none", "'a'", "[1]", "(1,)", "{'a': 1}", "missing"]
    for operator in ["+", "-", "*", "/", "//", "%", "**", "==", "<", "in", "~", "and"]:
        for left, right in itertools.product(operands, operands):
            yield "{{ " + left + " " + operator + " " + right + " }}"


def main():
    env = environment()
    provenance = {
        "program": f"jinja2 {importlib.metadata.version('jinja2')}, Python {platform.python_version()}",
        "command": "python golden/generate/template_language.py",
        "environment": "ImmutableSandboxedEnvironment as in transformers 5.24",
    }
    lines = [{"provenance": provenance, "now_unix_s": NOW, "context": CONTEXT}]
    lines += [{"template": template} | render(env, template, copy.deepcopy(CONTEXT)) for template in cases()]
    OUT.parent.mkdir(exist_ok=True)
    with OUT.open("w", encoding="utf-8", newline="\n") as out:
        for line in lines:
            if " at 0x" not in line.get("expected", ""):  # an address of the process that ran it
                out.write(json.dumps(line, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
