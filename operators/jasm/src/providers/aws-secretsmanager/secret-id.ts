import { PathInvalid } from '../provider-error.ts';
import type { AwsConfig } from './config.ts';

/** PATH_FORMAT describes the format of a path. */
export const PATH_FORMAT = 'the name of a secret, for instance prod/db, or its ARN';

/** The names that Secrets Manager accepts. */
const NAME = /^[A-Za-z0-9/_+=.@-]{1,512}$/;
const ARN =
  /^arn:aws[a-z-]*:secretsmanager:(?<region>[a-z]{2,}(?:-[a-z0-9]+)+):[0-9]{12}:secret:(?<name>[A-Za-z0-9/_+=.@-]{1,519})$/;

/**
 * secretId returns the id to request from Secrets Manager: a name with the configured prefix, or an ARN as is. The
 * account of a name is not known before it is read, so policies match a name by name and an ARN by ARN.
 */
export function secretId(path: string, { prefix }: Pick<AwsConfig, 'prefix'>): string {
  if (!path.startsWith('arn:')) {
    const name = prefix + path;
    if (path === '' || !NAME.test(name)) {
      throw new PathInvalid(
        `${quote(path)} is not a valid name of a secret: use 1 to 512 letters, digits and /_+=.@-${prefix === '' ? '' : `, including the prefix ${quote(prefix)}`}`,
      );
    }
    return name;
  }
  const name = ARN.exec(path)?.groups?.name;
  if (name === undefined) {
    throw new PathInvalid(
      `${quote(path)} is not the ARN of a secret: expected arn:aws:secretsmanager:REGION:ACCOUNT:secret:NAME-SUFFIX`,
    );
  }
  if (!name.startsWith(prefix)) {
    throw new PathInvalid(`${quote(path)} is not the ARN of a secret whose name begins with ${quote(prefix)}`);
  }
  return path;
}

/** regionOf returns the region of an ARN, or undefined for a name. */
export function regionOf(id: string): string | undefined {
  return ARN.exec(id)?.groups?.region;
}

function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
