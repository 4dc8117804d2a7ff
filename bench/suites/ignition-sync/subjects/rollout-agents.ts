// The agents of all gateways of an IgnitionSync in one process. Each does what an agent does in the cluster when it has nothing to
// place: it reads the plan from a watch, writes its report, and records an event.
import { objectNames } from '../../../../operators/ignition-sync/src/api/names.ts';
import { desiredHash } from '../../../../operators/ignition-sync/src/protocol/desired-hash.ts';
import { encodeReport } from '../../../../operators/ignition-sync/src/protocol/gateway-report.ts';
import { decodeMetadata, type SyncMetadata } from '../../../../operators/ignition-sync/src/protocol/metadata.ts';
import type { GatewayPlan } from '../../../../operators/ignition-sync/src/protocol/rollout-plan.ts';
import { bareWatch, endsSnapshot, watchListPath } from '../../../support/bare-watch.ts';
import { connected, openSession } from '../../../support/connection.ts';
import { sendRaw } from '../../../support/raw-request.ts';
import { MERGE_PATCH } from '../../../support/requests.ts';
import { readConnection, report, subjectInput, untilReleased } from '../../../support/subject.ts';

const input = subjectInput();
const { namespace, cr } = { namespace: String(input.options.namespace), cr: String(input.options.cr) };
const names = objectNames(cr);
const session = openSession(readConnection(input));
await connected(session);

const applied = new Map<string, string>();

const selector = `fieldSelector=metadata.name%3D${names.metadata}`;
bareWatch(session, `${watchListPath(`/api/v1/namespaces/${namespace}/configmaps`)}&${selector}`, (event) => {
  if (endsSnapshot(event)) report({ ready: true });
  if (event.type !== 'ADDED' && event.type !== 'MODIFIED') return;
  const metadata = decodeMetadata(event.object.data);
  for (const [pod, plan] of Object.entries(metadata.plan)) {
    const hash = desiredHash(metadata, pod);
    if (hash === undefined || applied.get(pod) === hash) continue;
    applied.set(pod, hash);
    sync(pod, plan, hash, metadata).catch(fail);
  }
});
await untilReleased();
session.destroy();

async function sync(pod: string, plan: GatewayPlan, appliedHash: string, { crUID }: SyncMetadata): Promise<void> {
  const value = encodeReport({
    syncStatus: 'Synced',
    syncedCommit: plan.commit,
    syncedRef: plan.ref,
    appliedHash,
    lastSyncTime: new Date().toISOString(),
    lastSyncDuration: '0.5s',
    agentVersion: '0.1.0',
    lastScanResult: 'projects=200 config=200',
    filesChanged: 1,
    projectsSynced: ['overview', 'line-1'],
  });
  await sendRaw(session, {
    method: 'PATCH',
    path: `/api/v1/namespaces/${namespace}/configmaps/${names.status}?fieldManager=bowline-ignition-sync-agent`,
    contentType: MERGE_PATCH,
    body: JSON.stringify({ data: { [plan.key]: value } }),
  });
  await sendRaw(session, {
    method: 'POST',
    path: `/apis/events.k8s.io/v1/namespaces/${namespace}/events`,
    contentType: 'application/json',
    body: JSON.stringify({
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: `${cr}.${pod}.${appliedHash.slice(0, 12)}`, namespace },
      eventTime: new Date().toISOString().replace('Z', '000Z'),
      reportingController: 'bowline.dev/ignition-sync-agent',
      reportingInstance: pod,
      action: 'Sync',
      reason: 'SyncCompleted',
      regarding: { apiVersion: 'sync.ignition.io/v1alpha1', kind: 'IgnitionSync', namespace, name: cr, uid: crUID },
      note: `gateway ${plan.name} is synced to ${plan.commit?.slice(0, 12)}`,
      type: 'Normal',
    }),
  });
}

function fail(error: unknown): void {
  console.error(error);
  process.exit(1);
}
