import type { Pod } from '@bowline/kubernetes';
import { applyMergePatch } from '@bowline/machinery';
import type { Transport, TransportRequest, TransportResponse } from '@bowline/runtime/client';
import { REPORT_ANNOTATION } from '../api/names.ts';
import { parseReport } from '../reports/parse-report.ts';
import type { Report } from '../reports/report.ts';

/** SentReport is a report as the server received it. */
export interface SentReport extends Report {
  readonly uid: string | undefined;
  readonly fieldManager: string | null;
}

/** PodServer is an API server with one pod. It rejects requests on demand. */
export class PodServer implements Transport {
  readonly host = 'pod';
  pod: Pod | undefined;
  /** The results of the next requests: a status, or an error of the connection. */
  readonly failures: (number | Error)[] = [];
  readonly requests: string[] = [];
  readonly reports: SentReport[] = [];

  constructor(pod: Pod) {
    this.pod = pod;
  }

  /** latest returns the last accepted report. */
  get latest(): SentReport | undefined {
    return this.reports.at(-1);
  }

  async request({ method, path, body, signal, beforeSend }: TransportRequest): Promise<TransportResponse> {
    signal?.throwIfAborted();
    beforeSend?.();
    const url = new URL(path, 'http://pod');
    this.requests.push(method);
    const failure = this.failures.shift();
    if (failure instanceof Error) throw failure;
    if (failure !== undefined) return refuse(failure);
    if (!this.pod) return refuse(404);
    if (method !== 'PATCH') return respond(200, this.pod);
    const patch = JSON.parse(String(body)) as Pod;
    const uid = patch.metadata?.uid;
    if (uid !== this.pod.metadata?.uid) return refuse(422, [{ field: 'metadata.uid', message: 'field is immutable' }]);
    const result = parseReport(patch.metadata?.annotations?.[REPORT_ANNOTATION] ?? '');
    if ('problem' in result) throw new TypeError(result.problem);
    this.reports.push({ ...result.report, uid, fieldManager: url.searchParams.get('fieldManager') });
    this.pod = applyMergePatch(this.pod, patch) as Pod;
    return respond(200, this.pod);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function refuse(code: number, causes: readonly object[] = []): TransportResponse {
  return respond(code, {
    kind: 'Status',
    apiVersion: 'v1',
    code,
    message: `status ${code}`,
    details: { name: 'scanner', causes },
  });
}

function respond(status: number, body: object): TransportResponse {
  const text = JSON.stringify(body);
  return {
    status,
    headers: {},
    body: (async function* () {
      yield Buffer.from(text);
    })(),
    text: () => Promise.resolve(text),
    aliveAt: () => 0,
  };
}
