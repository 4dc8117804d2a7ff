// prom-client's entry loads its push gateway and cluster support: 10 MB of RSS and 30 ms, against 0.5 MB and 4 ms for
// these four (Node 20, measured 2026-11). It has no exports map, so its files may be imported by name.
declare module 'prom-client/lib/registry.js' {
  import { Registry } from 'prom-client';
  export = Registry;
}
declare module 'prom-client/lib/counter.js' {
  import { Counter } from 'prom-client';
  export = Counter;
}
declare module 'prom-client/lib/gauge.js' {
  import { Gauge } from 'prom-client';
  export = Gauge;
}
declare module 'prom-client/lib/histogram.js' {
  import { Histogram } from 'prom-client';
  export = Histogram;
}
