import { isAbsolute, resolve } from 'node:path';
import { type Clock, systemClock } from '@bowline/machinery';
import { BowlineError } from '../errors/bowline-error.ts';
import type {
  ClientCertificate,
  Credentials,
  RejectedCredentials,
  RequestHeaders,
} from '../transport/connection-config.ts';
import { errorCodeOf } from '../transport/transport-error.ts';
import type { Entry, KubeconfigCluster, KubeconfigExec } from './kubeconfig.ts';
import { runPlugin } from './run-plugin.ts';

/** ExecCredentialsOptions configures an exec plugin. */
export interface ExecCredentialsOptions {
  readonly exec: KubeconfigExec;
  /** The origin of the plugin for messages, such as `user "x" of /path`. */
  readonly source: string;
  /** The folder of the kubeconfig. A command that contains a slash is relative to it. */
  readonly folder: string;
  readonly cluster: Entry<KubeconfigCluster>;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly interactive?: boolean | undefined;
  readonly wire?: Clock | undefined;
}

interface IssuedCredentials {
  readonly headers: RequestHeaders;
  readonly certificate: ClientCertificate | undefined;
  /** Wall time; infinite if the plugin returned no expiry. */
  readonly expiresAt: number;
}

/**
 * execCredentials runs a plugin (client.authentication.k8s.io v1 and v1beta1) to get a token or a certificate. The
 * result is cached until it expires or the server rejects it; one run at a time serves all waiting requests.
 */
export function execCredentials(options: ExecCredentialsOptions): Credentials {
  const wire = options.wire ?? systemClock;
  const interactive = (options.interactive ?? false) && options.exec.interactiveMode !== 'Never';
  let issued: IssuedCredentials | undefined;
  let running: Promise<IssuedCredentials> | undefined;

  const run = (): Promise<IssuedCredentials> => {
    running ??= requestCredentials(options, wire, interactive)
      .then((result) => {
        issued = result;
        return result;
      })
      .finally(() => {
        running = undefined;
      });
    return running;
  };
  const valid = (): IssuedCredentials | undefined => (issued && wire.now() < issued.expiresAt ? issued : undefined);
  return {
    headers: () => valid()?.headers ?? run().then(({ headers }) => headers),
    certificate: async () => (valid() ?? (await run())).certificate,
    refresh: async (rejected: RejectedCredentials) => {
      const differs = (now: IssuedCredentials | undefined): boolean =>
        now !== undefined &&
        (now.headers.authorization !== rejected.headers.authorization ||
          now.certificate?.certificatePem !== rejected.certificatePem);
      return differs(valid()) || differs(await run());
    },
  };
}

async function requestCredentials(
  options: ExecCredentialsOptions,
  wire: Clock,
  interactive: boolean,
): Promise<IssuedCredentials> {
  const { exec, source } = options;
  if (exec.interactiveMode === 'Always' && !interactive) {
    throw execError(
      options,
      'it needs a terminal (interactiveMode: Always), but none is attached; use credentials that need none',
    );
  }
  const command =
    exec.command.includes('/') && !isAbsolute(exec.command) ? resolve(options.folder, exec.command) : exec.command;
  const info = {
    apiVersion: exec.apiVersion,
    kind: 'ExecCredential',
    spec: { interactive, ...(exec.provideClusterInfo ? { cluster: await clusterInfo(options) } : {}) },
  };
  let output: string;
  try {
    output = await runPlugin({
      command,
      args: exec.args,
      env: { ...(options.env ?? process.env), ...exec.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
      interactive,
      wire,
    });
  } catch (cause) {
    const hint =
      errorCodeOf(cause) === 'ENOENT' ? `; install it${exec.installHint ? ` (${exec.installHint.trim()})` : ''}` : '';
    throw execError(options, `${cause instanceof Error ? cause.message : 'it failed'}${hint}`, cause);
  }
  return parseExecCredential(output, options, source);
}

/** parseExecCredential parses the plugin's output. No message quotes the output because it contains the secret. */
function parseExecCredential(output: string, options: ExecCredentialsOptions, source: string): IssuedCredentials {
  let credential: { apiVersion?: unknown; status?: Record<string, unknown> | null };
  try {
    credential = JSON.parse(output) as typeof credential;
  } catch {
    throw execError(options, 'its output is not JSON; run it manually to see what it prints');
  }
  if (typeof credential !== 'object' || credential === null || credential.apiVersion !== options.exec.apiVersion) {
    throw execError(
      options,
      `it did not print an ExecCredential of ${options.exec.apiVersion}; set apiVersion of exec to a version it supports`,
    );
  }
  const text = (field: string): string | undefined => {
    const value = credential.status?.[field];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const token = text('token');
  const certificatePem = text('clientCertificateData');
  const keyPem = text('clientKeyData');
  if ((certificatePem === undefined) !== (keyPem === undefined)) {
    throw execError(options, 'it returned a certificate without a key, or a key without a certificate');
  }
  if (token === undefined && certificatePem === undefined)
    throw execError(options, 'it returned neither a token nor a certificate');
  const expires = text('expirationTimestamp');
  const expiresAt = expires === undefined ? Number.POSITIVE_INFINITY : Date.parse(expires);
  if (Number.isNaN(expiresAt)) throw execError(options, `status.expirationTimestamp of ${source} is not a time`);
  return {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    certificate: certificatePem !== undefined && keyPem !== undefined ? { certificatePem, keyPem } : undefined,
    expiresAt,
  };
}

async function clusterInfo({ cluster }: ExecCredentialsOptions): Promise<object> {
  const { value } = cluster;
  let ca = value.certificateAuthorityData;
  if (!ca && value.certificateAuthority) {
    const { readFile } = await import('node:fs/promises');
    const { dirname } = await import('node:path');
    ca = (await readFile(resolve(dirname(cluster.file), value.certificateAuthority))).toString('base64');
  }
  return {
    server: value.server,
    'tls-server-name': value.tlsServerName,
    'insecure-skip-tls-verify': value.insecureSkipTlsVerify,
    'certificate-authority-data': ca,
    'proxy-url': value.proxyUrl,
    config: value.execConfig,
  };
}

function execError(options: ExecCredentialsOptions, problem: string, cause?: unknown): BowlineError {
  return new BowlineError(
    'BOWLINE_CREDENTIALS_EXEC',
    `the exec plugin ${options.exec.command} of ${options.source} returned no credentials: ${problem}`,
    { cause, retryable: true },
  );
}
