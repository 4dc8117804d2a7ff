import type { Clock } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import type { ServiceContext } from '@bowline/runtime/manager';
import { readCertificateFolder, type ServerCertificate } from './certificate-folder.ts';
import { ReceiverServer } from './receiver-server.ts';
import type { WebhookHandler } from './webhook-handler.ts';

/** ReceiverOptions configures a receiver. */
export interface ReceiverOptions {
  readonly handler: WebhookHandler;
  /** Empty: all addresses. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** A folder with tls.crt and tls.key, which are reloaded when they change. Defaults to plain HTTP. */
  readonly certificateFolder?: string | undefined;
  /** For the time of bodies and the intervals at which the folder is read. */
  readonly clock: Clock;
  readonly log: Log;
}

/** A mounted Secret takes about a minute to change anyway. */
const FOLDER_INTERVAL_MS = 30_000;

/**
 * runReceiver receives webhooks until the signal is aborted, and resolves when every request has ended. The replica is
 * ready when it listens. Rejects with BOWLINE_ADDRESS_* or BOWLINE_CERTIFICATE_UNUSABLE.
 */
export async function runReceiver(
  signal: AbortSignal,
  options: ReceiverOptions,
  service: Pick<ServiceContext, 'listensOn' | 'readiness'>,
): Promise<void> {
  const { handler, host, port, certificateFolder, clock, log } = options;
  let isListening = false;
  service.readiness(() => (isListening ? { ok: true } : { ok: false, message: 'webhooks are not received yet' }));
  const certificate = certificateFolder === undefined ? undefined : await readCertificateFolder(certificateFolder);
  const server = new ReceiverServer({ handler, clock, log, certificate });
  const listening = await server.listen(host, port);
  isListening = true;
  service.listensOn(listening);
  log.info('receiving webhooks', { host, port: listening, tls: certificate !== undefined });
  const reloading =
    certificateFolder === undefined || certificate === undefined
      ? undefined
      : keepCertificate(certificateFolder, certificate, { server, clock, log, signal });
  await server.run(signal);
  await reloading;
}

/** keepCertificate replaces the certificate of the server when the folder has another valid one. */
async function keepCertificate(
  folder: string,
  first: ServerCertificate,
  {
    server,
    clock,
    log,
    signal,
  }: Pick<ReceiverOptions, 'clock' | 'log'> & { server: ReceiverServer; signal: AbortSignal },
): Promise<void> {
  let served = first;
  for (;;) {
    await clock.sleep(FOLDER_INTERVAL_MS, signal).catch(() => undefined);
    if (signal.aborted) return;
    try {
      const found = await readCertificateFolder(folder);
      if (found.cert === served.cert && found.key === served.key) continue;
      server.use(found);
      served = found;
      log.info('receiving webhooks with a new certificate');
    } catch (error) {
      log.warn('cannot use the new certificate of the receiver, keeping the previous one', { error });
    }
  }
}
