/// The style sheet of the page.
extension HTMLReport {
  static let style: StaticString = """
    :root{color-scheme:light dark;--page:#fbfbfa;--ink:#1c1d1f;--quiet:#5d6168;--rule:#d9dbde;\
    --card:#fff;--band:#00000008;--odd:#00000012;--good:#17693a;--warn:#8a5300;--bad:#b3261e;\
    --c1:#1f6fc4;--c2:#c4561a;--c3:#2c8a57;--c4:#8047b0;--c5:#a3316f}
    @media(prefers-color-scheme:dark){:root{--page:#141517;--ink:#e8e9eb;--quiet:#9ea3ab;\
    --rule:#34373c;--card:#1c1e21;--band:#ffffff08;--odd:#ffffff14;--good:#5fce8c;--warn:#f0b44c;\
    --bad:#ff8a80;--c1:#6db3ff;--c2:#ff9f5f;--c3:#5fd39a;--c4:#c79bf2;\
    --c5:#f28cc0}}
    *{box-sizing:border-box}
    body{margin:0 auto;max-width:1160px;padding:16px;background:var(--page);color:var(--ink);\
    font:16px/1.45 system-ui,sans-serif;overflow-wrap:anywhere}
    h1{font-size:1.1rem;margin:0 0 12px}h2{font-size:1.1rem;margin:28px 0 8px}
    h3{font-size:1rem;margin:0}p{margin:0}
    .quiet{color:var(--quiet);font-size:.85rem}
    .verdict{border-left:8px solid;border-radius:6px;background:var(--card);padding:12px 16px}
    .verdict strong{display:block;font-size:1.5rem;line-height:1.2}
    .verdict.good{border-color:var(--good)}.verdict.warn{border-color:var(--warn)}
    .verdict.bad{border-color:var(--bad)}
    .good>strong,b.good{color:var(--good)}.warn>strong,b.warn{color:var(--warn)}
    .bad>strong,b.bad{color:var(--bad)}
    .tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(130px,1fr));gap:8px;\
    margin:12px 0 0;padding:0}
    .tiles div{background:var(--card);border:1px solid var(--rule);border-radius:6px;padding:8px 12px}
    .tiles dt{color:var(--quiet);font-size:.8rem}
    .tiles dd{margin:0;font-size:1.25rem;font-variant-numeric:tabular-nums}
    .wide{overflow-x:auto}
    table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
    th,td{text-align:right;padding:4px 10px;border-bottom:1px solid var(--rule);white-space:nowrap}
    th{font-weight:600}th:first-child,td:first-child{text-align:left;padding-left:0}
    td.words{text-align:left;white-space:normal}
    .plots{display:grid;gap:12px;grid-template-columns:repeat(auto-fit,minmax(min(100%,460px),1fr))}
    figure{margin:0;background:var(--card);border:1px solid var(--rule);border-radius:6px;\
    padding:12px}
    svg{display:block;width:100%;height:auto}
    svg text{font-size:11px;fill:var(--quiet)}svg .phase{font-size:10px}
    .legend{font-size:.85rem}.legend span{margin-right:14px;white-space:nowrap}
    .legend i{display:inline-block;width:14px;height:3px;border-radius:2px;margin-right:5px;\
    vertical-align:middle;background:currentColor}
    .legend .m{color:var(--bad)}
    .c1{color:var(--c1)}.c2{color:var(--c2)}.c3{color:var(--c3)}.c4{color:var(--c4)}\
    .c5{color:var(--c5)}
    .line{fill:none;stroke:currentColor;stroke-width:1.6;stroke-linejoin:round}
    .area{fill:currentColor;opacity:.16}.dot{fill:currentColor}
    .grid{stroke:var(--rule);stroke-width:1}.band{fill:var(--band)}.odd{fill:var(--odd)}
    .mark{stroke:var(--bad);stroke-width:1;stroke-dasharray:3 3;opacity:.7}
    .column{fill:transparent}.column:hover{fill:var(--odd)}
    pre{background:var(--card);border:1px solid var(--rule);border-radius:6px;padding:10px;\
    font-size:.8rem;white-space:pre-wrap;margin:8px 0}
    @media(max-width:480px){table{font-size:.78rem}th,td{padding:4px}}
    """
}
