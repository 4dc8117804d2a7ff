import { type FieldProblem, parseIp, parsePrefixLength } from '@bowline/machinery';
import { invalid } from './problems.ts';

/** addressProblems validates an IP address. */
export function addressProblems(field: string, address: string): FieldProblem[] {
  if (parseIp(address, { sloppy: true }) !== undefined) return [];
  return [invalid(field, address, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')];
}

/** cidrProblems validates a CIDR. */
export function cidrProblems(field: string, cidr: string): FieldProblem[] {
  const slash = cidr.indexOf('/');
  const bytes = slash < 0 ? undefined : parseIp(cidr.slice(0, slash), { sloppy: true });
  if (bytes && parsePrefixLength(cidr.slice(slash + 1), bytes.length, { sloppy: true }) !== undefined) return [];
  return [invalid(field, cidr, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')];
}

/**
 * endpointAddressProblems validates an address that traffic is sent to: it must not be unspecified, loopback or
 * link-local.
 */
export function endpointAddressProblems(field: string, address: string): FieldProblem[] {
  const bytes = parseIp(address, { sloppy: true });
  if (!bytes) return [];
  const [first = 0, second = 0] = bytes;
  const isV4 = bytes.length === 4;
  const rest = bytes.subarray(0, 15).every((byte) => byte === 0);
  const problems: FieldProblem[] = [];
  const is = (found: boolean, detail: string): void => {
    if (found) problems.push(invalid(field, address, detail));
  };
  is(
    bytes.every((byte) => byte === 0),
    `may not be unspecified (${address})`,
  );
  is(isV4 ? first === 127 : rest && bytes[15] === 1, 'may not be in the loopback range (127.0.0.0/8, ::1/128)');
  is(
    isV4 ? first === 169 && second === 254 : first === 0xfe && (second & 0xc0) === 0x80,
    'may not be in the link-local range (169.254.0.0/16, fe80::/10)',
  );
  is(
    isV4 ? first === 224 && second === 0 && bytes[2] === 0 : first === 0xff && (second & 0x0f) === 2,
    'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
  );
  return problems;
}
