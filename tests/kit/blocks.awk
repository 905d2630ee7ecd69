# awk -v 'fence=```sh' -f blocks.awk plugins.md: the commands between such a fence and the next.
$0 == fence { on = 1; next }
$0 == "```" { on = 0 }
on
