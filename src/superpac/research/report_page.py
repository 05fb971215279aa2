"""The page of the report, as a Jinja template; every value is escaped when it is filled in."""

from __future__ import annotations

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>SUPERPAC reproduced</title>
<style>
:root { --ink: #1c1f23; --soft: #5b6470; --line: #d9dee4; --paper: #fff; --tint: #f5f7f9;
  --yes: #00704f; --partly: #8a5a00; --no: #b3261e; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 2rem 1.25rem 4rem; color: var(--ink);
  background: var(--paper); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.9rem; margin: 0 0 .25rem; } h2 { margin: 2.75rem 0 .5rem; font-size: 1.3rem; }
p { max-width: 52rem; } .soft, figcaption { color: var(--soft); }
.note { border-left: 4px solid var(--partly); padding: .5rem .9rem; background: var(--tint); }
figure { margin: 1rem 0; } figure img { max-width: 100%; height: auto; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .45rem .6rem;
  border-bottom: 1px solid var(--line); }
thead th { background: var(--tint); white-space: nowrap; }
.numbers td:nth-child(-n+2) { white-space: nowrap; }
td.n { font-variant-numeric: tabular-nums; white-space: nowrap; }
.badge { display: inline-block; padding: .1rem .55rem; border-radius: 1rem; color: #fff;
  font-weight: 600; font-size: .85rem; white-space: nowrap; }
.badge.yes { background: var(--yes); } .badge.partly { background: var(--partly); }
.badge.no { background: var(--no); } .badge.untested { background: var(--soft); }
.claims td:nth-child(2) { width: 30%; min-width: 15rem; }
.claims blockquote { margin: 0; font-style: italic; }
.claims ul { margin: .4rem 0 0; padding-left: 1.1rem; }
.check { padding: .15rem 0; } .check b.yes { color: var(--yes); } .check b.no { color: var(--no); }
.check b.untested { color: var(--soft); }
code { background: var(--tint); padding: .1rem .3rem; border-radius: .25rem; }
details { margin: .5rem 0; } summary { cursor: pointer; }
nav a { margin-right: .9rem; }
@media print { details > * { display: block; } body { max-width: none; } }
</style>
</head>
<body>
<h1>SUPERPAC, reproduced</h1>
<p class="soft">Lipor &amp; Balzano, &ldquo;Leveraging Union of Subspace Structure to Improve
Constrained Clustering&rdquo;, ICML 2017. {{ trials }} trials,
{{ "%.1f" | format(hours) }} processor hours, {{ meta.date[:10] }}.</p>
<p>Of the paper's ten claims: <strong>{{ counts }}</strong>. Every number, figure and verdict on
this page is computed from one Parquet file.</p>
{% if meta.quick %}
<p class="note">This is a quick run: few trials, short budgets, and trials stopped after seconds.
Verdicts are first impressions; the full run is <code>superpac reproduce all</code>.</p>
{% endif %}
<nav><a href="#claims">Claims</a>{% for f in figures %}<a href="#{{ f.name }}">{{ f.name }}</a>
{% endfor %}<a href="#made">How it was made</a></nav>

<h2 id="claims">The paper's claims</h2>
<p class="soft">In brackets the 95% bootstrap interval over trials. A check holds when
our figure is within the bound named beside the paper's; where only its interval reaches the bound
it cannot tell. A claim is reproduced when all its checks hold, partly when some do.</p>
<div class="wide"><table class="claims">
<thead><tr><th>Claim</th><th>The paper's words</th><th>Checks: the paper's figure, and ours</th>
<th>Verdict</th></tr></thead>
<tbody>
{% for c in claims %}
<tr><th scope="row">{{ c.name }}</th><td><blockquote>{{ c.words }}</blockquote></td>
<td>{% for k in c.checks %}<div class="check"><b class="{{ k.mark }}">{{ k.words }}</b>:
{{ k.what }}.
<span class="soft">Paper: {{ k.paper }}.</span> Ours: {{ k.ours }}.</div>{% endfor %}
{% if c.why %}<ul>{% for w in c.why %}<li>{{ w }}</li>{% endfor %}</ul>{% endif %}</td>
<td><span class="badge {{ c.mark }}">{{ c.verdict }}</span></td></tr>
{% endfor %}
</tbody></table></div>

{% for f in figures %}
<h2 id="{{ f.name }}">{{ f.title }}{% if not f.paper %} <span class="soft">(beyond the paper)</span>
{% endif %}</h2>
<figure>{% if f.picture %}<img src="{{ f.picture }}" alt="{{ f.title }}">{% endif %}
<figcaption>{{ f.caption }}</figcaption></figure>
{% if f.rows %}
<details{% if f.layout == "table" %} open{% endif %}><summary>Numbers</summary>
<div class="wide"><table class="numbers">
<thead><tr><th>Data</th><th>Method</th><th>Trials</th><th>Start</th><th>Mean over questions</th>
<th>Last</th><th>Questions</th><th>to 5%</th><th>to 1%</th><th>to 0%</th><th>Classes met</th>
<th>CPU ms a question, mean / p95</th><th>Affinity</th></tr></thead>
<tbody>
{% for r in f.rows %}
<tr><td>{{ r.panel }}</td><td>{{ r.method }}</td><td class="n">{{ r.trials }}</td>
{% if r.only is defined %}<td class="n" colspan="10">{{ r.only }}</td>{% else %}
<td class="n">{{ r.start }}</td><td class="n">{{ r.area }}</td><td class="n">{{ r.last }}</td>
<td class="n">{{ r.got }}</td>{% for t in r.to %}<td class="n">{{ t }}</td>{% endfor %}
<td class="n">{{ r.met }}</td><td class="n">{{ r.ms }}</td><td class="n">{{ r.affinity }}</td>
{% endif %}</tr>
{% endfor %}
</tbody></table></div></details>
{% else %}<p class="soft">No results.</p>{% endif %}
{% if f.left_out %}<p class="soft">Left out:
{% for s in f.left_out %}{{ s.panel }} {{ s.method }} ({{ s.trials }}: {{ s.why }}){{ "; " if not
loop.last else "." }}{% endfor %}</p>{% endif %}
{% endfor %}

<h2 id="made">How it was made</h2>
{% for m in machines %}<p>{{ m.trials }} trials with {{ m.text }}.</p>{% endfor %}
<div class="wide"><table style="width: auto"><thead><tr><th>Figure</th><th>Trials</th>
<th>Stopped for time</th><th>Processor minutes</th></tr></thead><tbody>
{% for c in costs %}<tr><td>{{ c.name }}</td><td class="n">{{ c.trials }}</td>
<td class="n">{{ c.stopped }}</td><td class="n">{{ "%.1f" | format(c.minutes) }}</td></tr>
{% endfor %}<tr><th>together</th><th>{{ trials }}</th><th></th>
<th>{{ "%.1f" | format(60 * hours) }}: {{ "%.0f" | format(30 * hours) }} minutes on two cores</th>
</tr></tbody></table></div>
{% if meta.commands %}<p>Commands:</p><ul>
{% for c in meta.commands %}<li><code>{{ c }}</code></li>{% endfor %}</ul>{% endif %}
<p class="soft">Every trial ran on one thread. Seeds are hashes of (figure, method, trial); the
points and the affinity of a trial are the same for all its methods.</p>
{% if failed %}<p>Trials that failed:</p><ul>
{% for f in failed %}<li>{{ f.what }}: {{ f.why }}</li>{% endfor %}</ul>{% endif %}
</body>
</html>
"""
