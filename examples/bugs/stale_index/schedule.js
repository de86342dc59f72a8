// Reminders, each to be given for its own meeting.
function reminders(meetings) {
  const out = [];
  for (var i = 0; i < meetings.length; i++) {
    const ahead = 10 * (i + 1);
    out.push(() => `${meetings[i]} in ${ahead} minutes`);
  }
  return out;
}

module.exports = { reminders };
