/** `Manage personnel, projects · Read metrics`: managing includes reading. */
export function summarizeScopes(scopes: readonly string[]): string {
  const areas = (access: string) =>
    scopes.filter((scope) => scope.endsWith(access)).map((scope) => scope.replace(access, ''));
  const managed = areas('.manage');
  const read = areas('.read').filter((area) => !managed.includes(area));
  const parts = [
    managed.length > 0 && `Manage ${managed.join(', ')}`,
    read.length > 0 && `Read ${read.join(', ')}`,
  ];
  return parts.filter(Boolean).join(' · ');
}
