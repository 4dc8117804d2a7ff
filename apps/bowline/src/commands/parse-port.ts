import { InvalidArgumentError } from 'commander';

/** parsePort parses the value of `--port`. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new InvalidArgumentError('Must be an integer from 1 to 65535.');
  }
  return port;
}
