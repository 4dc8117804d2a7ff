// The operator in a separate process, set up as by `bowline run`. It reports when it works. On `settle` it reports once no work is
// left, and when it last had any; on `writes FILE` it saves its writes.
import { writeFileSync } from 'node:fs';
import { loadKubeconfig, type TransportRequest } from '@bowline/runtime/client';
import { preferSmallHeap } from '@bowline/runtime/manager';
import { ztwim } from '@bowline/ztwim';
import { untilQuiet, watchActivity } from '../../../support/operator-activity.ts';
import type { RawRequest } from '../../../support/raw-request.ts';
import { runOperator } from '../../../support/run-operator.ts';
import { orders, report, subjectInput } from '../../../support/subject.ts';

preferSmallHeap();
const input = subjectInput();
const { webhookPort, certificates, observe } = input.options;
const config = await loadKubeconfig({ paths: [input.kubeconfig] });
let writes: RawRequest[] = [];
await using running = runOperator(config, ztwim, {
  webhooksFor: () => ({
    address: `127.0.0.1:${webhookPort}`,
    reachedAt: 'loopback',
    ...(certificates === '' ? {} : { certificates: { kind: 'files', folder: String(certificates) } }),
  }),
  observe: observe === 'writes' ? record : undefined,
});
const activity = observe === 'activity' ? watchActivity(running) : undefined;
await running.working();
report({ ready: true });
for await (const line of orders()) {
  const [order = '', file = ''] = line.split(' ');
  if (order === 'writes') {
    writeFileSync(file, JSON.stringify(writes), { mode: 0o600 });
    writes = [];
    report({ written: true });
  } else {
    await untilQuiet(running);
    report({ ms: activity?.lastBusyMs() });
  }
}

function record({ method, path, headers, body }: TransportRequest): void {
  if (method === 'GET' || path.includes('/leases') || typeof body !== 'string') return;
  writes.push({ method, path, contentType: headers?.['content-type'] ?? '', body });
}
