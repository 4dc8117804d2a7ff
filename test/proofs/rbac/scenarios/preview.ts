import { Deployment, Ingress, type KubernetesObject, type Resource, Service } from '@bowline/kubernetes';
import { type Clock, systemClock } from '@bowline/machinery';
import { findCondition } from '@bowline/runtime';
import { isInvalid } from '@bowline/runtime/client';
import { type DnsServer, startDnsServer } from '../../../../docs/examples/preview/dns-server.ts';
import { previews } from '../../../../docs/examples/preview/operator.ts';
import { Preview } from '../../../../docs/examples/preview/preview.ts';
import type { Scenario, Stage } from '../scenario.ts';
import { untilEvent } from '../until-event.ts';

const HOST = 'pr-1.preview.example.com';
const CHILDREN: readonly Resource<KubernetesObject>[] = [Deployment, Service, Ingress];

/** A wall clock that can be advanced; timers are not affected. */
class ShiftedClock implements Clock {
  shiftMs = 0;
  readonly monotonic = systemClock.monotonic.bind(systemClock);
  readonly setTimer = systemClock.setTimer.bind(systemClock);
  readonly sleep = systemClock.sleep.bind(systemClock);

  now(): number {
    return systemClock.now() + this.shiftMs;
  }
}

/** A preview's host is taken and released, twice; its children are repaired; a rival is rejected; its lifetime ends. */
async function play(stage: Stage, dns: DnsServer, clock: ShiftedClock): Promise<void> {
  const { admin, namespace } = stage;
  const key = { namespace, name: 'pr-1' };
  const preview = (name: string) =>
    Preview.withDefaults({ metadata: { namespace, name }, spec: { image: 'shop:1', host: 'pr-1' } });
  let touches = 0;
  const touch = (): Promise<unknown> => {
    const annotations = { 'proof.bowline.dev/touch': String(++touches) };
    return admin.patch(Preview, key, { type: 'merge', body: { metadata: { annotations } } });
  };
  for (const times of [1, 2]) {
    dns.records.set(HOST, { target: '198.51.100.9', owner: 'marketing' });
    await (times === 1 ? admin.create(Preview, preview('pr-1')) : touch());
    await untilEvent(stage, 'HostTaken', times);
    dns.records.delete(HOST);
    await touch();
    await stage.until(Preview, key, (each) => findCondition(each, 'Ready')?.reason === 'Starting');
  }
  for (const kind of CHILDREN) {
    // A label that the operator sets is its own to maintain.
    const labels = { 'app.kubernetes.io/name': 'other' };
    await admin.patch(kind, key, { type: 'merge', body: { metadata: { labels } } });
    await stage.until(kind, key, ({ metadata }) => metadata?.labels?.['app.kubernetes.io/name'] === 'preview');
  }
  const refused = await admin.create(Preview, preview('rival')).catch((error: unknown) => error);
  if (!isInvalid(refused)) throw new Error('a second Preview for a host was not rejected');
  clock.shiftMs = 73 * 3_600_000;
  await touch();
  await stage.untilGone(Preview, key);
}

export const previewScenario: Scenario = {
  operator: previews,
  async open() {
    const dns = await startDnsServer();
    const clock = new ShiftedClock();
    return {
      config: { dnsUrl: dns.url },
      clock,
      play: (stage) => play(stage, dns, clock),
      [Symbol.asyncDispose]: () => dns[Symbol.asyncDispose](),
    };
  },
};
