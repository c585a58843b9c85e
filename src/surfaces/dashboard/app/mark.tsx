export function Mark({ size = 26 }: { size?: number }) {
  return (
    <svg class="mark" viewBox="0 0 32 32" width={size} height={size} aria-hidden="true">
      <path d="M9.5 22.5 15 12M17.4 11.8l5.2 8.4M12 23.5h7.5" />
      <circle class="mark-top" cx="16" cy="8.5" r="3.4" />
      <circle class="mark-left" cx="8" cy="23.6" r="3.4" />
      <circle class="mark-right" cx="24" cy="23.2" r="3.4" />
    </svg>
  );
}
