import type { SpireServer } from '../api/spire-server.ts';
import type { Component } from '../objects/labels.ts';
import type { OperandInput } from '../objects/operand-input.ts';
import type { EffectiveValues } from '../resolve/hold.ts';
import { controllerManagerConfig } from '../spire/controller-manager-config.ts';
import type { IdentityHistory } from '../spire/identity-history.ts';
import { SERVER } from '../spire/names.ts';
import { type RenderedFile, renderFile } from '../spire/rendered-file.ts';
import { serverConfig } from '../spire/server-config.ts';

/** ServerInput is what the objects of a SpireServer follow from. */
export interface ServerInput extends OperandInput {
  readonly spec: SpireServer['spec'];
  readonly values: EffectiveValues;
  readonly history: IdentityHistory;
  /** A hash of the Secrets that the server does not read again. Undefined: there are none. */
  readonly secretsHash: string | undefined;
  /** The keys of the Secret with the certificates of the database connection. Defaults to all that can be used. */
  readonly databaseTlsKeys?: readonly string[] | undefined;
}

/** ServerFiles are the configuration files of the pods of the server. */
export interface ServerFiles {
  readonly server: RenderedFile;
  readonly controllerManager: RenderedFile;
}

/** serverComponent returns how objects of the server are labelled. */
export function serverComponent({ config }: OperandInput): Component {
  return { name: SERVER, component: 'control-plane', image: config.images.spireServer };
}

/** serverFiles renders the configuration files. */
export function serverFiles(input: ServerInput): ServerFiles {
  const { spec, values, history, config, databaseTlsKeys } = input;
  const { operandNamespace: namespace, clusterDomain, className } = config;
  return {
    server: renderFile(serverConfig({ spec, values, namespace, history, databaseTlsKeys })),
    controllerManager: renderFile(controllerManagerConfig({ values, namespace, clusterDomain, className, history })),
  };
}

/** usesServingCert reports whether the federation endpoint has a certificate from a Secret. */
export function usesServingCert({ federation }: ServerInput['spec']): boolean {
  const { profile, httpsWeb } = federation?.bundleEndpoint ?? {};
  return profile === 'https_web' && httpsWeb?.servingCert !== undefined;
}

/** AWS_CREDENTIALS are the variables from which the server reads its credentials of AWS, and their keys in a Secret. */
export const AWS_CREDENTIALS = [
  { variable: 'AWS_ACCESS_KEY_ID', key: 'aws_access_key_id' },
  { variable: 'AWS_SECRET_ACCESS_KEY', key: 'aws_secret_access_key' },
] as const;
