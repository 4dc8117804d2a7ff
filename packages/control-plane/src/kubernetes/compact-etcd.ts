import { BowlineError } from '@bowline/runtime';
import { probe } from './probe.ts';

/** compactEtcd compacts etcd to its newest revision through its JSON gateway. */
export async function compactEtcd(etcdUrl: string): Promise<void> {
  // Any read returns the current revision; keys and values are base64-encoded.
  const read = await post(`${etcdUrl}/v3/kv/range`, { key: Buffer.from('/').toString('base64'), count_only: true });
  const { header } = JSON.parse(read) as { header: { revision: string } };
  await post(`${etcdUrl}/v3/kv/compaction`, { revision: header.revision, physical: true });
}

async function post(url: string, body: object): Promise<string> {
  const response = await probe(url, { method: 'POST', body: JSON.stringify(body) });
  if (response.status === 200) return response.text;
  throw new BowlineError(
    'BOWLINE_CONTROL_PLANE_COMPONENT',
    `etcd did not respond to ${new URL(url).pathname}: ${response.text.slice(0, 200)}; check that it runs, or restart it`,
  );
}
