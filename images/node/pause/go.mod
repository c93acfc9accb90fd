module atelier/pause

go 1.26.0
