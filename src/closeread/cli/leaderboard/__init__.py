"""The commands of `closeread leaderboard`: every module is one."""
