import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Secret } from '@bowline/kubernetes';
import { canonicalJson, type FieldProblem, JsonSyntaxError, MAX_CONTENT_BYTES, parseJson } from '@bowline/machinery';
import type { Draft } from '../../api-resource.ts';
import type { KindRules } from '../../built-in-strategy.ts';
import { AGE, as, column } from '../shared/column.ts';
import { immutableProblem, keyProblems, tooLong } from '../shared/content-keys.ts';
import { IMMUTABLE, invalid, required } from '../shared/problems.ts';
import { dropFalse } from '../shared/zero-values.ts';

const ACCOUNT_ANNOTATION = 'kubernetes.io/service-account.name';

type Content = Readonly<Record<string, string>>;

/**
 * secretRules merges stringData into data, requires the keys that users of each type expect, and rejects changes of
 * immutable Secrets.
 */
export const secretRules: KindRules = {
  applyDefaults(object) {
    const secret = as<Secret>(object);
    secret.type ||= 'Opaque';
    dropFalse(secret, 'immutable');
    const texts = Object.entries((secret.stringData ?? {}) as Content);
    if (texts.length > 0) {
      const bytes = texts.map(([key, text]) => [key, Buffer.from(text).toString('base64')] as const);
      // A key may be any text, even `__proto__`: fromEntries defines a property where an assignment would set the
      // prototype.
      secret.data = Object.fromEntries([...Object.entries((secret.data ?? {}) as Content), ...bytes]);
    }
    secret.stringData = undefined;
  },
  validate(object, old) {
    const data = (object.data ?? {}) as Content;
    const problems: FieldProblem[] = old ? changeProblems(object, old) : [];
    let bytes = 0;
    for (const [key, value] of Object.entries(data)) {
      problems.push(...keyProblems('data', key));
      bytes += Buffer.byteLength(value, 'base64');
    }
    if (bytes > MAX_CONTENT_BYTES) problems.push(tooLong('data'));
    return [...problems, ...typeProblems(object, data)];
  },
  warningsOf: (object) => keyPairWarnings(object),
  columns: [
    column('Type', 'Type of the secret.', (object) => as<Secret>(object).type ?? ''),
    column('Data', 'Number of values.', (object) => Object.keys(as<Secret>(object).data ?? {}).length),
    AGE,
  ],
};

function changeProblems(object: Draft, old: Draft): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (object.type !== old.type) problems.push(invalid('type', object.type, IMMUTABLE));
  if (old.immutable === true) {
    if (object.immutable !== true) problems.push(immutableProblem('immutable'));
    if (canonicalJson(object.data ?? {}) !== canonicalJson(old.data ?? {})) problems.push(immutableProblem('data'));
  }
  return problems;
}

/** REQUIRED_KEYS holds the keys that a Secret of a type must have. */
const REQUIRED_KEYS: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
};
const REGISTRY_KEYS: Readonly<Record<string, string>> = {
  'kubernetes.io/dockercfg': '.dockercfg',
  'kubernetes.io/dockerconfigjson': '.dockerconfigjson',
};

function typeProblems({ type, metadata }: Draft, data: Content): FieldProblem[] {
  const name = String(type);
  const missing = (key: string): FieldProblem[] => (Object.hasOwn(data, key) ? [] : [required(`data[${key}]`)]);
  switch (name) {
    case 'kubernetes.io/service-account-token':
      return metadata.annotations?.[ACCOUNT_ANNOTATION]
        ? []
        : [required(`metadata.annotations[${ACCOUNT_ANNOTATION}]`)];
    case 'kubernetes.io/basic-auth':
      // One of the two is enough.
      return Object.hasOwn(data, 'username') || Object.hasOwn(data, 'password')
        ? []
        : [...missing('username'), ...missing('password')];
    case 'kubernetes.io/ssh-auth':
      return data['ssh-privatekey'] ? [] : [required('data[ssh-privatekey]')];
    default: {
      const key = REGISTRY_KEYS[name];
      if (key === undefined) return (REQUIRED_KEYS[name] ?? []).flatMap(missing);
      const value = Object.hasOwn(data, key) ? data[key] : undefined;
      return value === undefined ? missing(key) : registryProblems(`data[${key}]`, value);
    }
  }
}

/** Error messages must not contain secret values. */
const REDACTED = '<secret contents redacted>';

function registryProblems(field: string, value: string): FieldProblem[] {
  try {
    const content = parseJson(Buffer.from(value, 'base64').toString()).value;
    if (typeof content === 'object' && !Array.isArray(content)) return [];
    const found = Array.isArray(content) ? 'array' : typeof content === 'boolean' ? 'bool' : typeof content;
    const detail = `json: cannot unmarshal ${found} into Go value of type map[string]interface {}`;
    return [invalid(field, REDACTED, detail)];
  } catch (error) {
    if (error instanceof JsonSyntaxError) return [invalid(field, REDACTED, error.message)];
    throw error;
  }
}

const PEM = /-----BEGIN [A-Z0-9 ]+-----/;

/** keyPairWarnings warns about a certificate and a key that do not match, which is allowed but rarely intended. */
function keyPairWarnings({ type, data }: Draft): string[] {
  if (type !== 'kubernetes.io/tls') return [];
  const read = (key: string): string => Buffer.from((data as Content)[key] ?? '', 'base64').toString('latin1');
  const [certificate, key] = [read('tls.crt'), read('tls.key')];
  if (!PEM.test(certificate)) return ['tls: failed to find any PEM data in certificate input'];
  if (!PEM.test(key)) return ['tls: failed to find any PEM data in key input'];
  try {
    const isPair = new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
    return isPair ? [] : ['tls: private key does not match public key'];
  } catch {
    return ['tls: failed to parse the certificate or its key'];
  }
}
