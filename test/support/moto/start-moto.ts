import { systemRandom } from '@bowline/machinery';
import { freePorts } from '../../../packages/control-plane/src/ports.ts';
import { startProgram } from '../start-program.ts';
import type { InstalledMoto } from './ensure-moto.ts';

/** RunningMoto is a moto on loopback. It accepts all callers until its IAM check is enabled. */
export interface RunningMoto extends AsyncDisposable {
  readonly url: string;
  /** secretsManager calls Secrets Manager as an administrator, while the IAM check is disabled. */
  secretsManager(operation: string, input: object): Promise<Readonly<Record<string, unknown>>>;
  /** createUser creates a user with a policy and returns the user's keys. */
  createUser(name: string, policy: object): Promise<{ readonly accessKeyId: string; readonly secretAccessKey: string }>;
  /** checkIam enables or disables the verification of signatures and policies. */
  checkIam(on: boolean): Promise<void>;
}

/** The region in which an administrator creates secrets. */
export const MOTO_REGION = 'eu-central-1';
/** The number of calls after which the check is enabled: far more than a test makes. */
const NEVER = 1_000_000_000;

/** Exits when its standard input closes, and so with its parent, however that exits: a test worker may be killed. */
const PROGRAM = `
import os, sys, threading
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
from moto.server import main
main(sys.argv[1:])
`;

/** startMoto runs moto and resolves when it responds. */
export async function startMoto({ python, packages }: InstalledMoto): Promise<RunningMoto> {
  const [port = 0] = await freePorts(1, systemRandom);
  const running = await startProgram({
    name: 'moto',
    program: python,
    args: ['-s', '-c', PROGRAM, '-H', '127.0.0.1', '-p', String(port)],
    // The AWS configuration of the user must not be used.
    env: { PATH: process.env.PATH, HOME: packages, PYTHONPATH: packages, PYTHONUNBUFFERED: '1' },
    readyLine: 'Running on',
  });
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    secretsManager: (operation, input) => secretsManager(url, operation, input),
    createUser: (name, policy) => createUser(url, name, policy),
    checkIam: (on) => checkIam(url, on),
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

async function secretsManager(
  url: string,
  operation: string,
  input: object,
): Promise<Readonly<Record<string, unknown>>> {
  const headers = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': `secretsmanager.${operation}` };
  return JSON.parse(await request(url, 'secretsmanager', headers, JSON.stringify(input))) as Record<string, unknown>;
}

async function createUser(
  url: string,
  name: string,
  policy: object,
): Promise<{ readonly accessKeyId: string; readonly secretAccessKey: string }> {
  const iam = (parameters: Readonly<Record<string, string>>): Promise<string> => {
    const form = new URLSearchParams({ Version: '2010-05-08', UserName: name, ...parameters });
    return request(url, 'iam', { 'content-type': 'application/x-www-form-urlencoded' }, form.toString());
  };
  await iam({ Action: 'CreateUser' });
  await iam({ Action: 'PutUserPolicy', PolicyName: 'given', PolicyDocument: JSON.stringify(policy) });
  const key = await iam({ Action: 'CreateAccessKey' });
  const part = (tag: string): string => new RegExp(`<${tag}>([^<]+)</${tag}>`).exec(key)?.[1] ?? '';
  return { accessKeyId: part('AccessKeyId'), secretAccessKey: part('SecretAccessKey') };
}

async function checkIam(url: string, on: boolean): Promise<void> {
  await request(url, 'none', { 'content-type': 'text/plain' }, String(on ? 0 : NEVER), '/moto-api/reset-auth');
}

let previous: Promise<unknown> = Promise.resolve();

/** One request at a time: moto's threads share state without locks, and concurrent changes may fail with 500. */
function request(...args: Parameters<typeof send>): Promise<string> {
  const response = previous.then(() => send(...args));
  previous = response.catch(() => undefined);
  return response;
}

/** moto reads region and service from the signature header. */
async function send(
  url: string,
  service: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  path = '/',
): Promise<string> {
  const scope = `AKIAADMINISTRATOR/20260101/${MOTO_REGION}/${service}/aws4_request`;
  const authorization = `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=none`;
  const response = await fetch(url + path, { method: 'POST', headers: { ...headers, authorization }, body });
  const text = await response.text();
  if (!response.ok) throw new Error(`moto returned ${response.status}: ${text}`);
  return text;
}
