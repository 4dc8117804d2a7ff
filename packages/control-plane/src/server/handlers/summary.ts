const LONGEST = 30;

/** summary is the beginning of what was sent: as text if it looks like JSON, else in hexadecimal. */
export function summary(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>';
  const beginning = Buffer.from(bytes.subarray(0, LONGEST)).toString(bytes[0] === 0x7b ? 'utf8' : 'hex');
  return bytes.length > LONGEST ? `${beginning} ...` : beginning;
}
