import { Deployment, Ingress, Service } from '@bowline/kubernetes';
import { formatTime } from '@bowline/machinery';
import { controller, slow } from '@bowline/runtime';
import { availability, desiredDeployment, desiredIngress, desiredService, expiryOf, hostName } from './desired.ts';
import type { Dns } from './dns.ts';
import { Preview } from './preview.ts';

/** PreviewDeps holds the dependencies of the controller besides the cluster. */
export interface PreviewDeps {
  readonly dns: Dns;
  /** The domain of all hosts. */
  readonly domain: string;
  /** The external IP address of the cluster. */
  readonly gateway: string;
}

/** previewController manages a Deployment, a Service, an Ingress and a DNS record for every Preview. */
export const previewController = controller(Preview, { concurrency: 4 })
  .using<PreviewDeps>()
  .owns(Deployment)
  .owns(Service)
  .owns(Ingress)
  .reconcile(async ({ object, key, apply, live, deps, clock, signal, status, event, log }) => {
    const { dns, domain, gateway } = deps;
    const { uid } = object.metadata;
    const expiresAt = expiryOf(object);
    const leftMs = expiresAt - clock.now();
    if (leftMs <= 0) {
      event('Normal', 'Expired', `deleted after spec.keepFor (${object.spec.keepFor})`);
      await live.delete(Preview, key, { preconditions: { uid } });
      log.info('deleted an expired preview');
      return;
    }

    const host = hostName(object, domain);
    status.set({ url: `https://${host}`, expiresAt: formatTime(expiresAt) });
    const { object: deployment } = await apply(Deployment, desiredDeployment(object));
    await apply(Service, desiredService(object));
    await apply(Ingress, desiredIngress(object, domain));

    if (!(await dns.point(host, { target: gateway, owner: uid }, signal))) {
      throw slow('HostTaken', `the host ${host} is used by another owner; create a new Preview with another spec.host`);
    }

    const missing = availability(deployment);
    if (missing) status.condition('Ready', false, 'Starting', missing);
    else event('Normal', 'Available', `serving at https://${host}`);
    return { requeueAfterMs: leftMs };
  })
  .cleanup(async ({ object, deps, signal }) => {
    await deps.dns.release(hostName(object, deps.domain), object.metadata.uid, signal);
  });
